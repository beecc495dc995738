#include "builder.h"

#include <string.h>

static ushort
new_slots(builder_t *b, uint words)
{
    ushort slot = (ushort)b->plan->words;
    b->plan->words += words;
    return slot;
}

capture_t *
builder_capture(builder_t *b, capture_what_t what, uint instr, opnd_t opnd, uint words)
{
    capture_t *c = &b->captures[b->plan->n_captures++];
    c->instr = (ushort)instr;
    c->what = (byte)what;
    c->after = false;
    c->opnd = opnd;
    c->slot = new_slots(b, words);
    c->ref = 0;
    return c;
}

wire_ref_t *
builder_ref(builder_t *b, uint instr, byte kind, byte mode, app_pc pc, uint size)
{
    wire_ref_t *r = &b->refs[b->plan->n_refs++];
    memset(r, 0, sizeof(*r));
    r->instr = (uint16_t)instr;
    r->kind = kind;
    r->mode = mode;
    r->pc_delta = (uint32_t)(pc - (app_pc)b->plan->head.start_pc);
    r->size = size;
    r->slot = r->aux = r->index = r->value_slot = NO_SLOT;
    return r;
}

static bool
is_wide(reg_id_t reg)
{
    return reg == DR_REG_NULL || (reg_is_gpr(reg) && reg_is_64bit(reg));
}

/* The base alone, of a gather's or scatter's memory operand. */
static opnd_t
without_vector_index(opnd_t mem)
{
    if (!opnd_is_base_disp(mem) || opnd_get_index(mem) == DR_REG_NULL ||
        !reg_is_simd(opnd_get_index(mem)))
        return mem;
    return opnd_create_far_base_disp_ex(opnd_get_segment(mem), opnd_get_base(mem), DR_REG_NULL, 0,
                                        opnd_get_disp(mem), opnd_get_size(mem), false, false,
                                        opnd_is_disp_short_addr(mem));
}

void
builder_address(builder_t *b, wire_ref_t *r, opnd_t mem, int64 late)
{
    mem = without_vector_index(mem);
    if (opnd_is_abs_addr(mem) || opnd_is_rel_addr(mem)) {
        if (!opnd_is_far_memory_reference(mem)) {
            r->disp = (uint64)opnd_get_addr(mem);
            return;
        }
    }
    known_t want = { NO_VERSION, NO_VERSION, 1, DR_REG_NULL, 0, 0, NO_SLOT };
    reg_id_t segment = opnd_is_base_disp(mem) ? opnd_get_segment(mem) : DR_REG_NULL;
    reg_id_t base = opnd_is_base_disp(mem) ? opnd_get_base(mem) : DR_REG_NULL;
    reg_id_t index = opnd_is_base_disp(mem) ? opnd_get_index(mem) : DR_REG_NULL;
    int64 disp = (opnd_is_base_disp(mem) ? opnd_get_disp(mem) : 0) + late;
    bool far_segment = segment == DR_SEG_FS || segment == DR_SEG_GS;
    bool odd = !opnd_is_base_disp(mem) || !is_wide(base) || !is_wide(index) ||
               (far_segment && (base != DR_REG_NULL || index != DR_REG_NULL));
    if (odd) {
        /* 32-bit addressing, xlat, registers in a segment: the whole address, not shared. */
        r->slot = builder_capture(b, CAP_ADDRESS, r->instr, mem, 1)->slot;
        r->disp = (uint64)late;
        return;
    }
    opnd_t opnd;
    if (far_segment) {
        want.segment = segment;
        opnd = opnd_create_far_base_disp(segment, DR_REG_NULL, DR_REG_NULL, 0, 0, OPSZ_8);
    } else if (base == DR_REG_NULL && index == DR_REG_NULL) {
        r->disp = (uint64)disp;
        return;
    } else {
        if (base != DR_REG_NULL) {
            sym_t s = symbolic_get(&b->symbolic, base);
            want.base = s.version;
            want.base_delta = s.delta;
        }
        if (index != DR_REG_NULL) {
            sym_t s = symbolic_get(&b->symbolic, index);
            want.index = s.version;
            want.index_delta = s.delta;
            want.scale = (byte)opnd_get_scale(mem);
        }
        opnd = index == DR_REG_NULL
            ? opnd_create_reg(base)
            : opnd_create_base_disp(base, index, want.scale, 0, OPSZ_lea);
    }
    for (uint i = 0; i < b->n_known; i++) {
        known_t *k = &b->known[i];
        if (k->base == want.base && k->index == want.index && k->scale == want.scale &&
            k->segment == want.segment) {
            r->slot = k->slot;
            r->disp = (uint64)(disp + (want.base_delta - k->base_delta) +
                               (want.index_delta - k->index_delta) * want.scale);
            return;
        }
    }
    capture_what_t what = opnd_is_reg(opnd) ? CAP_REG : CAP_ADDRESS;
    want.slot = builder_capture(b, what, r->instr, opnd, 1)->slot;
    b->known[b->n_known++] = want;
    r->slot = want.slot;
    r->disp = (uint64)disp;
}
