#include "capture.h"

#include "drutil.h"
#include "thread.h"
#include "tiles.h"

static bool has_avx512bw;

void
capture_init(void)
{
    has_avx512bw = proc_has_feature(FEATURE_AVX512BW);
}

/* The end of the record: no register may hold it across an instruction that touches the register,
 * so it is read again from where the head has left it. */
static reg_id_t
pointer(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e, reg_set_t avoid)
{
    if (e->pointer != DR_REG_NULL && regs_in_use(e->regs, e->pointer))
        return e->pointer;
    e->pointer = regs_reserve(drcontext, bb, where, e->regs, avoid);
    insert(bb, where,
           INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(e->pointer),
                               thread_slot(drcontext, TLS_WRITE)));
    return e->pointer;
}

static opnd_t
place(const emit_t *e, uint word_of_payload, uint byte, opnd_size_t size)
{
    int disp = ((int)word_of_payload - (int)e->plan->words) * (int)sizeof(uint64) + (int)byte;
    return opnd_create_base_disp(e->pointer, DR_REG_NULL, 0, disp, size);
}

static void
store(void *drcontext, instrlist_t *bb, instr_t *where, opnd_t to, reg_id_t reg)
{
    insert(bb, where, INSTR_CREATE_mov_st(drcontext, to, opnd_create_reg(reg)));
}

/* The low `size` bytes of what the program has in `reg`. */
static void
general(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e, reg_id_t reg, opnd_t to)
{
    opnd_size_t size = opnd_get_size(to);
    opnd_t value = regs_program_value(drcontext, e->regs, reg);
    if (opnd_is_reg(value)) {
        store(drcontext, bb, where, to, reg_resize_to_opsz(reg, size));
        return;
    }
    reg_id_t scratch = regs_reserve(drcontext, bb, where, e->regs, 0);
    insert(bb, where, INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(scratch), value));
    store(drcontext, bb, where, to, reg_resize_to_opsz(scratch, size));
    regs_release(e->regs, scratch);
}

/* A register with what the program has in `reg`: itself, or a scratch one, to be released. */
static reg_id_t
readable(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e, reg_id_t reg,
         reg_set_t avoid)
{
    opnd_t value = regs_program_value(drcontext, e->regs, reg);
    if (opnd_is_reg(value))
        return reg;
    reg_id_t scratch = regs_reserve(drcontext, bb, where, e->regs, avoid);
    insert(bb, where, INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(scratch), value));
    return scratch;
}

/* base + index * scale, of 64-bit registers. */
static void
sum(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e, opnd_t opnd, uint slot)
{
    reg_set_t operand = reg_set_of_opnd(opnd);
    reg_id_t base = opnd_get_base(opnd), index = opnd_get_index(opnd);
    reg_id_t from = base, by = index;
    if (base != DR_REG_NULL)
        from = readable(drcontext, bb, where, e, base, operand);
    if (index != DR_REG_NULL)
        by = index == base ? from : readable(drcontext, bb, where, e, index, operand);
    reg_id_t result = regs_reserve(drcontext, bb, where, e->regs, operand);
    insert(bb, where,
           INSTR_CREATE_lea(drcontext, opnd_create_reg(result),
                            opnd_create_base_disp(from, by, opnd_get_scale(opnd), 0, OPSZ_lea)));
    store(drcontext, bb, where, place(e, slot, 0, OPSZ_8), result);
    regs_release(e->regs, result);
    if (from != base)
        regs_release(e->regs, from);
    if (by != index)
        regs_release(e->regs, by);
}

/* Any other memory operand: its registers are the program's meanwhile. */
static void
whole_address(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e, opnd_t opnd, uint slot)
{
    reg_set_t operand = reg_set_of_opnd(opnd);
    regs_give_back(drcontext, bb, where, e->regs, operand);
    pointer(drcontext, bb, where, e, operand);
    reg_id_t result = regs_reserve(drcontext, bb, where, e->regs, operand);
    reg_id_t scratch = regs_reserve(drcontext, bb, where, e->regs, operand);
    drutil_insert_get_mem_addr(drcontext, bb, where, opnd, result, scratch);
    store(drcontext, bb, where, place(e, slot, 0, OPSZ_8), result);
    regs_release(e->regs, scratch);
    regs_release(e->regs, result);
}

static void
vector(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e, const capture_t *c)
{
    reg_id_t reg = opnd_get_reg(c->opnd);
    opnd_t to = place(e, c->slot, 0, reg_get_size(reg));
    bool upper = reg_is_strictly_zmm(reg) ||
                 (reg_is_strictly_ymm(reg) && reg >= DR_REG_YMM16) ||
                 (reg_is_strictly_xmm(reg) && reg >= DR_REG_XMM16);
    if (upper)
        insert(bb, where,
               INSTR_CREATE_vmovdqu64_mask(drcontext, to, opnd_create_reg(DR_REG_K0), c->opnd));
    else if (reg_is_strictly_ymm(reg))
        insert(bb, where, INSTR_CREATE_vmovdqu(drcontext, to, c->opnd));
    else if (reg_is_mmx(reg))
        insert(bb, where, INSTR_CREATE_movq(drcontext, to, c->opnd));
    else
        insert(bb, where, INSTR_CREATE_movdqu(drcontext, to, c->opnd));
}

/* Copies the bytes that a store has just written. Its address is what the host will compute. */
static void
value(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e, const capture_t *c)
{
    const wire_ref_t *r = &e->plan->refs[c->ref];
    reg_id_t address = regs_reserve(drcontext, bb, where, e->regs, 0);
    reg_id_t data = regs_reserve(drcontext, bb, where, e->regs, 0);
    insert(bb, where,
           INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(address),
                                OPND_CREATE_INT64((int64)r->disp)));
    if (r->slot != NO_SLOT) {
        insert(bb, where,
               INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(data),
                                   place(e, r->slot, 0, OPSZ_8)));
        insert(bb, where,
               INSTR_CREATE_lea(drcontext, opnd_create_reg(address),
                                opnd_create_base_disp(address, data, 1, 0, OPSZ_lea)));
    }
    for (uint at = 0; at < r->size;) {
        uint left = r->size - at;
        uint n = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
        opnd_size_t size = opnd_size_from_bytes(n);
        reg_id_t part = reg_resize_to_opsz(data, size);
        insert(bb, where,
               INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(part),
                                   opnd_create_base_disp(address, DR_REG_NULL, 0, (int)at, size)));
        store(drcontext, bb, where, place(e, c->slot, at, size), part);
        at += n;
    }
    regs_release(e->regs, data);
    regs_release(e->regs, address);
}

/* The flags can only be pushed, and not on the program's stack: below it may be data. */
static void
flags(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e, const capture_t *c)
{
    reg_id_t scratch = regs_reserve(drcontext, bb, where, e->regs, 0);
    regs_reserve_this(drcontext, bb, where, e->regs, DR_REG_RSP);
    insert(bb, where,
           INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(DR_REG_RSP),
                               thread_slot(drcontext, TLS_STACK)));
    insert(bb, where, INSTR_CREATE_pushf(drcontext));
    insert(bb, where, INSTR_CREATE_pop(drcontext, opnd_create_reg(scratch)));
    regs_give_back(drcontext, bb, where, e->regs, reg_set(DR_REG_RSP));
    store(drcontext, bb, where, place(e, c->slot, 0, OPSZ_8), scratch);
    regs_release(e->regs, scratch);
}

void
capture_emit(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e, const capture_t *c)
{
    pointer(drcontext, bb, where, e, reg_set_of_opnd(c->opnd));
    switch (c->what) {
    case CAP_REG:
        general(drcontext, bb, where, e, opnd_get_reg(c->opnd), place(e, c->slot, 0, OPSZ_8));
        break;
    case CAP_ADDRESS:
        if (opnd_is_near_base_disp(c->opnd) && opnd_get_size(c->opnd) == OPSZ_lea)
            sum(drcontext, bb, where, e, c->opnd, c->slot);
        else
            whole_address(drcontext, bb, where, e, c->opnd, c->slot);
        break;
    case CAP_MASK:
        if (has_avx512bw)
            insert(bb, where,
                   INSTR_CREATE_kmovq(drcontext, place(e, c->slot, 0, OPSZ_8), c->opnd));
        else
            insert(bb, where,
                   INSTR_CREATE_kmovw(drcontext, place(e, c->slot, 0, OPSZ_2), c->opnd));
        break;
    case CAP_VECTOR: vector(drcontext, bb, where, e, c); break;
    case CAP_FEATURES:
        general(drcontext, bb, where, e, DR_REG_RAX, place(e, c->slot, 0, OPSZ_4));
        general(drcontext, bb, where, e, DR_REG_RDX, place(e, c->slot, 4, OPSZ_4));
        break;
    case CAP_TILES: {
        opnd_t to = place(e, c->slot, 0, OPSZ_64);
        tiles_capture(drcontext, bb, where, opnd_get_base(to), opnd_get_disp(to));
        break;
    }
    case CAP_VALUE: value(drcontext, bb, where, e, c); break;
    case CAP_FLAGS: flags(drcontext, bb, where, e, c); break;
    default: break;
    }
}
