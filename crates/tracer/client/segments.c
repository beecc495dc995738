#include "segments.h"

#include <string.h>

#include "access.h"
#include "drbbdup.h"
#include "drmgr.h"
#include "far_targets.h"
#include "gs_base.h"
#include "unrecordable.h"

/* The engine computes what is relative to FS or GS from the program's base, which it keeps, in
 * registers. The base of GS is 0: a program that sets it is not recorded (gs_base.h). So such operands
 * are near ones. */

/* Instructions whose address is in a register that is not named, which the engine cannot replace. */
static bool
has_implicit_address(instr_t *instr)
{
    switch (instr_get_opcode(instr)) {
    case OP_movs:
    case OP_rep_movs:
    case OP_lods:
    case OP_rep_lods:
    case OP_cmps:
    case OP_rep_cmps:
    case OP_repne_cmps:
    case OP_outs:
    case OP_rep_outs:
    case OP_xlat:
    case OP_maskmovq:
    case OP_maskmovdqu:
    case OP_vmaskmovdqu: return true;
    default: return false;
    }
}

static bool
in_segment(opnd_t opnd, reg_id_t segment)
{
    if (opnd_is_base_disp(opnd))
        return opnd_get_segment(opnd) == segment;
    return opnd_is_far_memory_reference(opnd) && opnd_get_segment(opnd) == segment;
}

/* The engine knows of moves to FS and GS only. */
static bool
pops_selector(instr_t *instr)
{
    if (instr_get_opcode(instr) == OP_mov_seg)
        return false;
    for (int i = 0; i < instr_num_dsts(instr); i++) {
        opnd_t dst = instr_get_dst(instr, (uint)i);
        if (opnd_is_reg(dst) &&
            (opnd_get_reg(dst) == DR_SEG_FS || opnd_get_reg(dst) == DR_SEG_GS))
            return true;
    }
    return false;
}

static opnd_t
near_one(opnd_t opnd, bool implicit)
{
    opnd_size_t size = opnd_get_size(opnd);
    if (opnd_is_rel_addr(opnd))
        return opnd_create_rel_addr(opnd_get_addr(opnd), size);
    if (opnd_is_abs_addr(opnd))
        return opnd_create_abs_addr(opnd_get_addr(opnd), size);
    return opnd_create_far_base_disp_ex(
        implicit ? DR_SEG_DS : DR_REG_NULL, opnd_get_base(opnd), opnd_get_index(opnd),
        opnd_get_scale(opnd), opnd_get_disp(opnd), size, opnd_is_disp_encode_zero(opnd),
        opnd_is_disp_force_full(opnd), opnd_is_disp_short_addr(opnd));
}

/* The program's own encoding, with the prefix of DS, which means nothing, in place of that of GS: the engine's tables do not
 * have all encodings. Returns its length; 0 where it is of no use. */
static int
near_encoding(void *drcontext, instr_t *instr, byte *app, size_t size)
{
    static const byte prefixes[] = { 0x66, 0xf0, 0x67, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65 };
    int found = 0, length = instr_raw_bits_valid(instr) ? instr_length(drcontext, instr) : 0;
    /* By the instruction pointer it depends on its place. */
    if (length == 0 || (size_t)length > size || instr_is_cti(instr) || instr_has_rel_addr_reference(instr))
        return 0;
    memcpy(app, instr_get_raw_bits(instr), (size_t)length);
    for (int i = 0; i < length && memchr(prefixes, app[i], sizeof(prefixes)) != NULL; i++) {
        if (app[i] == 0x64)
            return 0;
        if (app[i] == 0x65) {
            app[i] = 0x3e;
            found++;
        }
    }
    return found == 1 ? length : 0;
}

/* Makes operands relative to GS near ones; says whether one is relative to FS. */
static bool
flatten(void *drcontext, instr_t *instr)
{
    byte app[16];
    app_pc pc = instr_get_app_pc(instr);
    int length = near_encoding(drcontext, instr, app, sizeof(app));
    bool implicit = has_implicit_address(instr), by_fs = false, by_gs = false;
    for (int i = 0; i < instr_num_srcs(instr); i++) {
        opnd_t src = instr_get_src(instr, i);
        by_fs |= in_segment(src, DR_SEG_FS);
        if (in_segment(src, DR_SEG_GS)) {
            instr_set_src(instr, (uint)i, near_one(src, implicit));
            by_gs = true;
        }
    }
    for (int i = 0; i < instr_num_dsts(instr); i++) {
        opnd_t dst = instr_get_dst(instr, i);
        by_fs |= in_segment(dst, DR_SEG_FS);
        if (in_segment(dst, DR_SEG_GS)) {
            instr_set_dst(instr, (uint)i, near_one(dst, implicit));
            by_gs = true;
        }
    }
    if (by_gs && length > 0) {
        instr_allocate_raw_bits(drcontext, instr, (uint)length);
        for (int i = 0; i < length; i++)
            instr_set_raw_byte(instr, (uint)i, app[i]);
        instr_set_operands_valid(instr, true);
        instr_set_translation(instr, pc);
    }
    return by_fs;
}

static dr_emit_flags_t
on_app2app(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating)
{
    for (instr_t *i = instrlist_first_app(bb); i != NULL; i = instr_get_next_app(i)) {
        if (!is_program_instr(i))
            continue;
        int op = instr_get_opcode(i);
        bool by_fs = flatten(drcontext, i);
        if (translating)
            continue;
        if (pops_selector(i))
            unrecordable("loads its FS or GS segment from the stack or with a pointer (pop, lfs, "
                         "lgs), which the recorder needs for itself");
        else if (op == OP_wrgsbase)
            unrecordable("sets the base of its GS segment (wrgsbase), which the "
                         "recorder needs for itself");
        else if (op == OP_wrfsbase)
            unrecordable("sets the base of its FS segment by itself (wrfsbase), which the "
                         "recorder needs for itself");
        else if (by_fs && has_implicit_address(i))
            unrecordable("has a string instruction relative to its FS segment, which the "
                         "recorder needs for itself");
    }
    return DR_EMIT_DEFAULT;
}

/* The processor tells the recorder's bases. */
static dr_emit_flags_t
on_meta(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating)
{
    for (instr_t *i = instrlist_first_app(bb); i != NULL; i = instr_get_next_app(i)) {
        int op = is_program_instr(i) ? instr_get_opcode(i) : OP_INVALID;
        if (op == OP_mov_seg)
            gs_base_before_load(drcontext, bb, i);
        if (op != OP_INVALID)
            far_targets_before(drcontext, bb, i);
        if (op != OP_rdfsbase && op != OP_rdgsbase)
            continue;
        reg_id_t reg = opnd_get_reg(instr_get_dst(i, 0)), half = reg_64_to_32(reg_to_pointer_sized(reg));
        instr_t *behind = INSTR_CREATE_label(drcontext);
        instrlist_meta_postinsert(bb, i, behind);
        if (op == OP_rdgsbase) {
            instrlist_meta_preinsert(
                bb, behind,
                INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(half), OPND_CREATE_INT32(0)));
            continue;
        }
        dr_insert_get_seg_base(drcontext, bb, behind, DR_SEG_FS, reg_to_pointer_sized(reg));
        if (reg == half)
            instrlist_meta_preinsert(
                bb, behind,
                INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(half), opnd_create_reg(half)));
    }
    return DR_EMIT_DEFAULT;
}

bool
segments_init(void)
{
    drmgr_priority_t first = { .struct_size = sizeof(first),
                               .name = "prestore_segments",
                               .priority = DRMGR_PRIORITY_APP2APP_DRBBDUP - 1000 };
    /* Behind the checker, which knows the code of ours that is there before. */
    drmgr_priority_t last = { .struct_size = sizeof(last),
                              .name = "prestore_segment_bases",
                              .priority = 1000 };
    return drmgr_register_bb_app2app_event(on_app2app, &first) &&
           drmgr_register_bb_meta_instru_event(on_meta, &last);
}
