#include "emit.h"

#include <string.h>

#include "access.h"
#include "drmgr.h"
#include "drreg.h"
#include "drutil.h"
#include "gencode.h"
#include "leave.h"
#include "thread.h"

/* A header word and the time. */
#define STAMP_BYTES 16

static byte *hand_over_code;
static bool has_avx512bw;

void
emit_init(void)
{
    hand_over_code = gencode_make(thread_full_in_block);
    has_avx512bw = proc_has_feature(FEATURE_AVX512BW);
}

void
emit_exit(void)
{
    gencode_free(hand_over_code);
}

static void
mark_used(opnd_t opnd, bool used[16])
{
    for (int i = 0; i < opnd_num_regs_used(opnd); i++) {
        reg_id_t reg = opnd_get_reg_used(opnd, i);
        if (reg_is_gpr(reg))
            used[reg_to_pointer_sized(reg) - DR_REG_RAX] = true;
    }
}

/* Prefers registers that the block does not touch: they are saved and restored once. */
static void
choose_registers(instrlist_t *bb, plan_t *plan, drvector_t *allowed)
{
    bool touched[16] = { false }, captured[16] = { false };
    int free_regs = 0;
    for (instr_t *instr = instrlist_first_app(bb); instr != NULL;
         instr = instr_get_next_app(instr)) {
        for (int i = 0; i < 16; i++) {
            if (instr_uses_reg(instr, (reg_id_t)(DR_REG_RAX + i)))
                touched[i] = true;
        }
    }
    for (uint i = 0; i < plan->n_captures; i++) {
        mark_used(plan->captures[i].opnd, captured);
        if (plan->captures[i].what == CAP_FEATURES)
            captured[0] = captured[2] = true; /* rax, rdx */
    }
    drreg_init_and_fill_vector(allowed, false);
    for (int i = 0; i < 16; i++) {
        if (i != DR_REG_RSP - DR_REG_RAX && !touched[i])
            free_regs++;
    }
    for (int i = 0; i < 16; i++) {
        reg_id_t reg = (reg_id_t)(DR_REG_RAX + i);
        if (reg == DR_REG_RSP || (free_regs >= 2 ? touched[i] : captured[i]))
            continue;
        drreg_set_vector_entry(allowed, reg, true);
    }
}

emit_t *
emit_begin(void *drcontext, plan_t *plan, instrlist_t *bb)
{
    emit_t *e = dr_thread_alloc(drcontext, sizeof(*e));
    memset(e, 0, sizeof(*e));
    e->plan = plan;
    e->pointer = DR_REG_NULL;
    choose_registers(bb, plan, &e->allowed);
    return e;
}

void
emit_end(void *drcontext, emit_t *e)
{
    drvector_delete(&e->allowed);
    plan_free(drcontext, e->plan);
    dr_thread_free(drcontext, e, sizeof(*e));
}

/* Reserves a register: one that costs little, or whichever there is. */
static reg_id_t
reserve(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e)
{
    reg_id_t reg;
    if (drreg_reserve_register(drcontext, bb, where, &e->allowed, &reg) == DRREG_SUCCESS)
        return reg;
    e->fell_back = true;
    if (drreg_reserve_register(drcontext, bb, where, NULL, &reg) == DRREG_SUCCESS)
        return reg;
    dr_fprintf(STDERR, "prestore: internal error: no register to record with\n");
    dr_abort();
    return DR_REG_NULL;
}

static void
unreserve(void *drcontext, instrlist_t *bb, instr_t *where, reg_id_t reg)
{
    drreg_unreserve_register(drcontext, bb, where, reg);
}

static void
insert(instrlist_t *bb, instr_t *where, instr_t *instr)
{
    instrlist_meta_preinsert(bb, where, instr);
}

static void
reserve_one(void *drcontext, instrlist_t *bb, instr_t *where, reg_id_t wanted)
{
    drvector_t only;
    reg_id_t reg;
    drreg_init_and_fill_vector(&only, false);
    drreg_set_vector_entry(&only, wanted, true);
    if (drreg_reserve_register(drcontext, bb, where, &only, &reg) != DRREG_SUCCESS)
        dr_abort();
    drvector_delete(&only);
}

/* Writes the time at `pointer`, and makes the record begin behind it. Without a fence: what the
 * atomic has read was written before it began, and the stamp may only be a little early. */
static void
stamp(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e)
{
    insert(bb, where, INSTR_CREATE_rdtsc(drcontext));
    insert(bb, where,
           INSTR_CREATE_mov_st(drcontext, OPND_CREATE_MEM32(e->pointer, 0),
                               OPND_CREATE_INT32(REC_STAMP)));
    insert(bb, where,
           INSTR_CREATE_mov_st(drcontext, OPND_CREATE_MEM32(e->pointer, 4), OPND_CREATE_INT32(1)));
    insert(bb, where,
           INSTR_CREATE_mov_st(drcontext, OPND_CREATE_MEM32(e->pointer, 8),
                               opnd_create_reg(DR_REG_EAX)));
    insert(bb, where,
           INSTR_CREATE_mov_st(drcontext, OPND_CREATE_MEM32(e->pointer, 12),
                               opnd_create_reg(DR_REG_EDX)));
    insert(bb, where,
           INSTR_CREATE_lea(drcontext, opnd_create_reg(e->pointer),
                            OPND_CREATE_MEM_lea(e->pointer, DR_REG_NULL, 0, STAMP_BYTES)));
}

/* pointer := TLS_WRITE; if it is at the limit, hand the buffer over first; write the header and
 * claim the record. */
static void
head(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e)
{
    uint bytes = (1 + e->plan->words) * sizeof(uint64);
    bool stamped = e->plan->stamped;
    instr_t *room = INSTR_CREATE_label(drcontext);
    instr_t *back = INSTR_CREATE_label(drcontext);

    if (stamped) {
        /* rdtsc's; first, so that the pointer is another. */
        reserve_one(drcontext, bb, where, DR_REG_RAX);
        reserve_one(drcontext, bb, where, DR_REG_RDX);
        bytes += STAMP_BYTES;
    }
    drreg_reserve_aflags(drcontext, bb, where);
    e->pointer = reserve(drcontext, bb, where, e);
    opnd_t pointer = opnd_create_reg(e->pointer);
    insert(bb, where,
           INSTR_CREATE_mov_ld(drcontext, pointer, thread_slot(drcontext, TLS_WRITE)));
    insert(bb, where, INSTR_CREATE_cmp(drcontext, pointer, thread_slot(drcontext, TLS_LIMIT)));
    insert(bb, where, INSTR_CREATE_jcc(drcontext, OP_jb, opnd_create_instr(room)));
    /* The rare way. rcx is saved by hand so that the common way does not pay for it: the pointer
     * is reloaded afterwards and can hold rcx meanwhile. */
    if (e->pointer != DR_REG_RCX)
        insert(bb, where, INSTR_CREATE_mov_ld(drcontext, pointer, opnd_create_reg(DR_REG_RCX)));
    insert(bb, where,
           INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(DR_REG_RCX), opnd_create_instr(back)));
    insert(bb, where, INSTR_CREATE_jmp(drcontext, opnd_create_pc(hand_over_code)));
    insert(bb, where, back);
    leave_insert(drcontext, bb, where, (app_pc)e->plan->head.start_pc,
                 e->pointer == DR_REG_RCX ? NULL
                                          : INSTR_CREATE_mov_ld(
                                                drcontext, opnd_create_reg(DR_REG_RCX), pointer),
                 e->plan->instrs);
    if (e->pointer != DR_REG_RCX)
        insert(bb, where, INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(DR_REG_RCX), pointer));
    insert(bb, where,
           INSTR_CREATE_mov_ld(drcontext, pointer, thread_slot(drcontext, TLS_WRITE)));
    insert(bb, where, room);
    if (stamped)
        stamp(drcontext, bb, where, e);
    insert(bb, where,
           INSTR_CREATE_mov_st(drcontext, OPND_CREATE_MEM32(e->pointer, 0),
                               OPND_CREATE_INT32((int)e->plan->id)));
    insert(bb, where,
           INSTR_CREATE_add(drcontext, thread_slot(drcontext, TLS_WRITE),
                            OPND_CREATE_INT32((int)bytes)));
    drreg_unreserve_aflags(drcontext, bb, where);
    if (stamped) {
        unreserve(drcontext, bb, where, DR_REG_RDX);
        unreserve(drcontext, bb, where, DR_REG_RAX);
    }
}

static opnd_t
slot_opnd(emit_t *e, uint slot, opnd_size_t size)
{
    return opnd_create_base_disp(e->pointer, DR_REG_NULL, 0,
                                 (int)((1 + slot) * sizeof(uint64)), size);
}

static void
capture_vector(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e, const capture_t *c)
{
    reg_id_t reg = opnd_get_reg(c->opnd);
    opnd_t to = slot_opnd(e, c->slot, reg_get_size(reg));
    bool upper = reg_is_strictly_zmm(reg) ||
                 (reg_is_strictly_ymm(reg) && reg >= DR_REG_YMM16) ||
                 (reg_is_strictly_xmm(reg) && reg >= DR_REG_XMM16);
    if (upper)
        insert(bb, where, INSTR_CREATE_vmovdqu64_mask(drcontext, to, opnd_create_reg(DR_REG_K0),
                                                      c->opnd));
    else if (reg_is_strictly_ymm(reg))
        insert(bb, where, INSTR_CREATE_vmovdqu(drcontext, to, c->opnd));
    else if (reg_is_mmx(reg))
        insert(bb, where, INSTR_CREATE_movq(drcontext, to, c->opnd));
    else
        insert(bb, where, INSTR_CREATE_movdqu(drcontext, to, c->opnd));
}

/* Copies the bytes that a store has just written. Its address is what the host will compute. */
static void
capture_value(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e, const capture_t *c)
{
    const wire_ref_t *r = &e->plan->refs[c->ref];
    reg_id_t address = reserve(drcontext, bb, where, e);
    reg_id_t data = reserve(drcontext, bb, where, e);
    insert(bb, where,
           INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(address),
                                OPND_CREATE_INT64((int64)r->disp)));
    if (r->slot != NO_SLOT) {
        insert(bb, where,
               INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(data),
                                   slot_opnd(e, r->slot, OPSZ_8)));
        insert(bb, where,
               INSTR_CREATE_lea(drcontext, opnd_create_reg(address),
                                opnd_create_base_disp(address, data, 1, 0, OPSZ_lea)));
    }
    for (uint at = 0; at < r->size;) {
        uint left = r->size - at;
        uint n = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
        opnd_size_t size = n == 8 ? OPSZ_8 : n == 4 ? OPSZ_4 : n == 2 ? OPSZ_2 : OPSZ_1;
        reg_id_t part = reg_resize_to_opsz(data, size);
        insert(bb, where,
               INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(part),
                                   opnd_create_base_disp(address, DR_REG_NULL, 0, (int)at, size)));
        insert(bb, where,
               INSTR_CREATE_mov_st(drcontext,
                                   opnd_create_base_disp(e->pointer, DR_REG_NULL, 0,
                                                         (int)((1 + c->slot) * 8 + at), size),
                                   opnd_create_reg(part)));
        at += n;
    }
    unreserve(drcontext, bb, where, data);
    unreserve(drcontext, bb, where, address);
}

/* scratch := what the program has in `reg`. */
static void
app_value(void *drcontext, instrlist_t *bb, instr_t *where, reg_id_t reg, reg_id_t scratch)
{
    insert(bb, where,
           INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(scratch),
                               thread_app_value(drcontext, reg)));
}

static void
one_capture(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e, const capture_t *c)
{
    reg_id_t scratch, other;
    opnd_t to = slot_opnd(e, c->slot, OPSZ_8);
    switch (c->what) {
    case CAP_REG: {
        reg_id_t reg = opnd_get_reg(c->opnd);
        if (!e->fell_back &&
            drvector_get_entry(&e->allowed, (uint)(reg - DR_REG_START_GPR)) == NULL) {
            /* Never reserved by us in this block: it holds the program's value, but for rax, in
             * which drreg leaves the flags until somebody asks. */
            drreg_get_app_value(drcontext, bb, where, reg, reg);
            insert(bb, where, INSTR_CREATE_mov_st(drcontext, to, c->opnd));
            break;
        }
        scratch = reserve(drcontext, bb, where, e);
        app_value(drcontext, bb, where, reg, scratch);
        insert(bb, where, INSTR_CREATE_mov_st(drcontext, to, opnd_create_reg(scratch)));
        unreserve(drcontext, bb, where, scratch);
        break;
    }
    case CAP_ADDRESS:
        scratch = reserve(drcontext, bb, where, e);
        other = DR_REG_NULL;
        if (opnd_is_far_memory_reference(c->opnd) || !opnd_is_base_disp(c->opnd) ||
            opnd_get_size(c->opnd) != OPSZ_lea) {
            reg_id_t swap = DR_REG_NULL;
            other = reserve(drcontext, bb, where, e);
            drreg_restore_app_values(drcontext, bb, where, c->opnd, &swap);
            drutil_insert_get_mem_addr(drcontext, bb, where, c->opnd, scratch, other);
            if (swap != DR_REG_NULL)
                unreserve(drcontext, bb, where, swap);
        } else {
            reg_id_t swap = DR_REG_NULL;
            drreg_restore_app_values(drcontext, bb, where, c->opnd, &swap);
            insert(bb, where,
                   INSTR_CREATE_lea(drcontext, opnd_create_reg(scratch), c->opnd));
            if (swap != DR_REG_NULL)
                unreserve(drcontext, bb, where, swap);
        }
        insert(bb, where, INSTR_CREATE_mov_st(drcontext, to, opnd_create_reg(scratch)));
        if (other != DR_REG_NULL)
            unreserve(drcontext, bb, where, other);
        unreserve(drcontext, bb, where, scratch);
        break;
    case CAP_MASK:
        if (has_avx512bw)
            insert(bb, where, INSTR_CREATE_kmovq(drcontext, to, c->opnd));
        else
            insert(bb, where,
                   INSTR_CREATE_kmovw(drcontext, slot_opnd(e, c->slot, OPSZ_2), c->opnd));
        break;
    case CAP_VECTOR: capture_vector(drcontext, bb, where, e, c); break;
    case CAP_FEATURES:
        scratch = reserve(drcontext, bb, where, e);
        app_value(drcontext, bb, where, DR_REG_RAX, scratch);
        insert(bb, where,
               INSTR_CREATE_mov_st(drcontext, slot_opnd(e, c->slot, OPSZ_4),
                                   opnd_create_reg(reg_64_to_32(scratch))));
        app_value(drcontext, bb, where, DR_REG_RDX, scratch);
        insert(bb, where,
               INSTR_CREATE_mov_st(drcontext,
                                   opnd_create_base_disp(e->pointer, DR_REG_NULL, 0,
                                                         (int)((1 + c->slot) * 8 + 4), OPSZ_4),
                                   opnd_create_reg(reg_64_to_32(scratch))));
        unreserve(drcontext, bb, where, scratch);
        break;
    case CAP_VALUE: capture_value(drcontext, bb, where, e, c); break;
    default: break;
    }
}

void
emit_before(void *drcontext, instrlist_t *bb, instr_t *instr, emit_t *e)
{
    plan_t *plan = e->plan;
    if (e->at == 0)
        head(drcontext, bb, instr, e);
    /* First what belongs behind the instruction before this one, then what belongs before it. */
    for (uint i = e->next_after; i < plan->n_captures && plan->captures[i].instr < e->at; i++) {
        if (plan->captures[i].after)
            one_capture(drcontext, bb, instr, e, &plan->captures[i]);
        e->next_after = i + 1;
    }
    for (; e->next_capture < plan->n_captures &&
         plan->captures[e->next_capture].instr == e->at;
         e->next_capture++) {
        if (!plan->captures[e->next_capture].after)
            one_capture(drcontext, bb, instr, e, &plan->captures[e->next_capture]);
    }
    e->at++;
    bool done = e->next_capture == plan->n_captures;
    for (uint i = e->next_after; done && i < plan->n_captures; i++)
        done = !plan->captures[i].after;
    if (e->pointer != DR_REG_NULL && (done || e->at == plan->instrs)) {
        unreserve(drcontext, bb, instr, e->pointer);
        e->pointer = DR_REG_NULL;
    }
}
