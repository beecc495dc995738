#include "float_pc.h"

#include "access.h"
#include "drmgr.h"

/* The x87 unit remembers where its last instruction lay: in the code cache. Instructions that save
 * that (fnstenv, fxsave, xsave and their like; the engine ends blocks behind them) are followed by a
 * call which writes where the program has that instruction. The engine's own option for it does less
 * and is not whole. */

/* Where in the saved area the address is, and its bytes; 0: none. */
typedef struct {
    uint at, bytes;
    bool extended; /* the header behind the area's first part says whether there is one */
} place_t;

#define LEGACY_BYTES 512

static place_t
place_of(instr_t *instr)
{
    place_t none = { 0, 0, false };
    switch (instr_get_opcode(instr)) {
    case OP_fnstenv:
    case OP_fnsave: {
        opnd_size_t size = opnd_get_size(instr_get_dst(instr, 0));
        bool wide = size == OPSZ_28 || size == OPSZ_108;
        /* 16-bit code has half the address's half: of no use here. */
        return wide ? (place_t){ 12, 4, false } : none;
    }
    case OP_fxsave32: return (place_t){ 8, 4, false };
    case OP_fxsave64: return (place_t){ 8, 8, false };
    case OP_xsave32:
    case OP_xsaveopt32:
    case OP_xsavec32: return (place_t){ 8, 4, true };
    case OP_xsave64:
    case OP_xsaveopt64:
    case OP_xsavec64: return (place_t){ 8, 8, true };
    default: return none;
    }
}

/* The program's address of what lies in the cache at `saved`, of which `bytes` are known; `saved`
 * where it is not the cache's. */
static uint64
translate(uint64 saved, uint bytes)
{
    uint64 here = (uint64)__builtin_return_address(0);
    /* The cache lies within 4 GB of all code that is the engine's. */
    for (int64 half = -1; half <= 1; half++) {
        uint64 whole = bytes == 8 ? saved : ((here >> 32) + (uint64)half) << 32 | saved;
        app_pc found = NULL;
        if (dr_memory_is_dr_internal((byte *)whole))
            found = dr_app_pc_from_cache_pc((byte *)whole);
        if (found != NULL)
            return (uint64)found;
    }
    return saved;
}

static bool
read_at(const byte *address, void *to, size_t bytes)
{
    size_t done = 0;
    return dr_safe_read(address, bytes, to, &done) && done == bytes;
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
        uint64 meant = known && saved != 0 ? translate(saved, place.bytes) : saved;
        if (meant != saved)
            dr_safe_write(area + place.at, place.bytes, &meant, &done);
    }
    instr_free(drcontext, &instr);
}

static dr_emit_flags_t
on_block(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating)
{
    for (instr_t *i = instrlist_first_app(bb); i != NULL; i = instr_get_next_app(i)) {
        if (!is_program_instr(i) || place_of(i).bytes == 0)
            continue;
        instr_t *behind = INSTR_CREATE_label(drcontext);
        instrlist_meta_postinsert(bb, i, behind);
        dr_insert_clean_call(drcontext, bb, behind, (void *)on_saved, false, 1,
                             OPND_CREATE_INTPTR(instr_get_app_pc(i)));
    }
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
