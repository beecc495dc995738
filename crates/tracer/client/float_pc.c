#include "float_pc.h"

#include "access.h"
#include "drmgr.h"
#include "thread.h"

/* The x87 unit remembers where its last instruction lay: in the code cache. Instructions that save
 * that (fnstenv, fxsave, xsave and their like; the engine ends blocks behind them) are followed by a
 * call which writes where the program has that instruction. The engine's own option for it does less
 * and is not whole. */

/* Where in the saved area the address is, and its bytes; 0: none. */
typedef struct {
    uint at, bytes;
    uint opcode;   /* where its opcode is, 2 bytes */
    bool extended; /* the header behind the area's first part says whether there is one */
} place_t;

#define LEGACY_BYTES 512

static place_t
place_of(instr_t *instr)
{
    place_t none = { 0 };
    switch (instr_get_opcode(instr)) {
    case OP_fnstenv:
    case OP_fnsave: {
        opnd_size_t size = opnd_get_size(instr_get_dst(instr, 0));
        bool wide = size == OPSZ_28 || size == OPSZ_108;
        /* 16-bit code has half the address's half: of no use here. */
        return wide ? (place_t){ 12, 4, 18, false } : none;
    }
    case OP_fxsave32: return (place_t){ 8, 4, 6, false };
    case OP_fxsave64: return (place_t){ 8, 8, 6, false };
    case OP_xsave32:
    case OP_xsaveopt32:
    case OP_xsavec32: return (place_t){ 8, 4, 6, true };
    case OP_xsave64:
    case OP_xsaveopt64:
    case OP_xsavec64: return (place_t){ 8, 8, 6, true };
    default: return none;
    }
}

/* Does the x87 unit remember `instr`? Not what only looks at its state or sets it. */
static bool
is_remembered(instr_t *instr)
{
    int op = instr_get_opcode(instr);
    switch (op) {
    case OP_fldenv:
    case OP_fldcw:
    case OP_fnstenv:
    case OP_fnstcw:
    case OP_frstor:
    case OP_fnsave:
    case OP_fnstsw:
    case OP_fnclex:
    case OP_fninit: return false;
    case OP_ffreep: return true;
    default: return op >= OP_fadd && op <= OP_fisttp;
    }
}

static bool
remembered_at(void *drcontext, app_pc pc)
{
    instr_t instr;
    instr_init(drcontext, &instr);
    bool is = decode(drcontext, pc, &instr) != NULL && is_remembered(&instr);
    instr_free(drcontext, &instr);
    return is;
}

/* The program's address of what lies in the cache at `saved`, of which `bytes` are known; `saved`
 * where it is not the cache's. Of code that the cache does not have any more (when a trace is made of
 * it), what the block noted. */
static uint64
translate(void *drcontext, uint64 saved, uint bytes)
{
    uint64 here = (uint64)__builtin_return_address(0);
    /* The cache lies within 4 GB of all code that is the engine's. */
    for (int64 half = -1; half <= 1; half++) {
        uint64 whole = bytes == 8 ? saved : ((here >> 32) + (uint64)half) << 32 | saved;
        if (!dr_memory_is_dr_internal((byte *)whole))
            continue;
        app_pc found = dr_app_pc_from_cache_pc((byte *)whole);
        if (found != NULL && remembered_at(drcontext, found))
            return (uint64)found;
        return *thread_slot_of(thread_of(drcontext), TLS_FLOAT);
    }
    return saved;
}

static bool
read_at(const byte *address, void *to, size_t bytes)
{
    size_t done = 0;
    return dr_safe_read(address, bytes, to, &done) && done == bytes;
}

/* Some processors remember the opcode as well, with its form of address: the cache's may have another, as what lies relative
 * to the program's code is not where it would be relative to the cache's. */
static void
write_opcode(byte *area, app_pc pc)
{
    byte code[16] = { 0 }; /* what cannot be read is none */
    ushort saved = 0;
    size_t done, at = 0;
    if (!read_at(area, &saved, sizeof(saved)) || saved == 0)
        return;
    dr_safe_read(pc, sizeof(code) - 1, code, &done);
    /* Behind the prefixes. */
    while (at < sizeof(code) - 2 && (code[at] & 0xf8) != 0xd8)
        at++;
    ushort meant = (ushort)((code[at] & 7) << 8 | code[at + 1]);
    if ((code[at] & 0xf8) == 0xd8 && meant != saved)
        dr_safe_write(area, sizeof(meant), &meant, &done);
}

static void
on_saved(app_pc pc)
{
    void *drcontext = dr_get_current_drcontext();
    dr_mcontext_t mc = { .size = sizeof(mc), .flags = DR_MC_INTEGER | DR_MC_CONTROL };
    instr_t instr;
    instr_init(drcontext, &instr);
    if (decode(drcontext, pc, &instr) != NULL && dr_get_mcontext(drcontext, &mc)) {
        place_t place = place_of(&instr);
        byte *area = instr_compute_address(&instr, &mc);
        uint64 components = 1, saved = 0;
        size_t done;
        bool known = (!place.extended ||
                      read_at(area + LEGACY_BYTES, &components, sizeof(components))) &&
                     (components & 1) != 0 && place.bytes > 0 &&
                     read_at(area + place.at, &saved, place.bytes);
        uint64 meant = known && saved != 0 ? translate(drcontext, saved, place.bytes) : saved;
        if (meant != saved) {
            dr_safe_write(area + place.at, place.bytes, &meant, &done);
            write_opcode(area + place.opcode, (app_pc)meant);
        }
    }
    instr_free(drcontext, &instr);
}

/* Two moves, as code is not always in the lowest 2 GB. */
static void
note(void *drcontext, instrlist_t *bb, instr_t *instr)
{
    uint64 pc = (uint64)instr_get_app_pc(instr);
    opnd_t slot = thread_slot(drcontext, TLS_FLOAT);
    instr_t *behind = INSTR_CREATE_label(drcontext);
    instrlist_meta_postinsert(bb, instr, behind);
    for (int i = 0; i < 2; i++) {
        opnd_t half = opnd_create_far_base_disp(opnd_get_segment(slot), DR_REG_NULL, DR_REG_NULL, 0,
                                                opnd_get_disp(slot) + 4 * i, OPSZ_4);
        instrlist_meta_preinsert(
            bb, behind,
            INSTR_CREATE_mov_st(drcontext, half, OPND_CREATE_INT32((int)(pc >> 32 * i))));
    }
}

static void
call(void *drcontext, instrlist_t *bb, instr_t *instr)
{
    instr_t *behind = INSTR_CREATE_label(drcontext);
    instrlist_meta_postinsert(bb, instr, behind);
    dr_insert_clean_call(drcontext, bb, behind, (void *)on_saved, false, 1,
                         OPND_CREATE_INTPTR(instr_get_app_pc(instr)));
}

static dr_emit_flags_t
on_block(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating)
{
    instr_t *last = NULL; /* not noted yet */
    for (instr_t *i = instrlist_first(bb); i != NULL; i = instr_get_next(i)) {
        bool program = is_program_instr(i);
        /* Control may come from elsewhere, or go there: the block may be here twice (cases.c). */
        if (last != NULL && (instr_is_label(i) || instr_is_cti(i))) {
            note(drcontext, bb, last);
            last = NULL;
        }
        if (program && place_of(i).bytes > 0)
            call(drcontext, bb, i);
        if (program && is_remembered(i))
            last = i;
    }
    if (last != NULL)
        note(drcontext, bb, last);
    return DR_EMIT_DEFAULT;
}

bool
float_pc_init(void)
{
    /* Behind the checker, which knows the code of ours that is there before. */
    drmgr_priority_t last = { .struct_size = sizeof(last),
                              .name = "prestore_float_pc",
                              .priority = 1000 };
    return drmgr_register_bb_meta_instru_event(on_block, &last);
}
