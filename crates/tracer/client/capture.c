#include "capture.h"

#include "drutil.h"
#include "thread.h"
#include "tiles.h"
#include "xsave.h"

static bool has_avx512bw;

void
capture_init(void)
{
    has_avx512bw = proc_has_feature(FEATURE_AVX512BW);
}

/* The end of the record: no register may hold it across an instruction that touches the register,
 * so it is read again from where the head has left it. */
static reg_id_t
pointer(at_t *at, emit_t *e, reg_set_t avoid)
{
    if (e->pointer != DR_REG_NULL && regs_in_use(e->regs, e->pointer))
        return e->pointer;
    e->pointer = regs_reserve(at, e->regs, avoid);
    code_load_tls(at, e->pointer, thread_tls(TLS_WRITE));
    return e->pointer;
}

static int
place(const emit_t *e, uint word_of_payload)
{
    return ((int)word_of_payload - (int)e->plan->words) * (int)sizeof(uint64);
}

/* The same as an operand. */
static opnd_t
place_opnd(const emit_t *e, uint word_of_payload, opnd_size_t size)
{
    return opnd_create_base_disp(e->pointer, DR_REG_NULL, 0, place(e, word_of_payload), size);
}

/* A register with what the program has in `reg`: itself, or a scratch one, to be released. */
static reg_id_t
readable(at_t *at, emit_t *e, reg_id_t reg, reg_set_t avoid)
{
    if (!regs_in_slot(e->regs, reg))
        return reg;
    reg_id_t scratch = regs_reserve(at, e->regs, avoid);
    code_load_tls(at, scratch, regs_slot(reg));
    return scratch;
}

/* The low `bytes` of what the program has in `reg`. */
static void
general(at_t *at, emit_t *e, reg_id_t reg, int disp, uint bytes)
{
    reg_id_t from = readable(at, e, reg, 0);
    code_store(at, e->pointer, disp, from, bytes);
    if (from != reg)
        regs_release(e->regs, from);
}

/* base + index * scale, of 64-bit registers. */
static void
sum(at_t *at, emit_t *e, opnd_t opnd, uint slot)
{
    reg_set_t operand = reg_set_of_opnd(opnd);
    reg_id_t base = opnd_get_base(opnd), index = opnd_get_index(opnd);
    reg_id_t from = base, by = index;
    if (base != DR_REG_NULL)
        from = readable(at, e, base, operand);
    if (index != DR_REG_NULL)
        by = index == base ? from : readable(at, e, index, operand);
    reg_id_t result = regs_reserve(at, e->regs, operand);
    code_sum(at, result, from, by, (uint)opnd_get_scale(opnd));
    code_store(at, e->pointer, place(e, slot), result, 8);
    regs_release(e->regs, result);
    if (from != base)
        regs_release(e->regs, from);
    if (by != index)
        regs_release(e->regs, by);
}

/* Any other memory operand: its registers are the program's meanwhile. */
static void
whole_address(at_t *at, emit_t *e, opnd_t opnd, uint slot)
{
    reg_set_t operand = reg_set_of_opnd(opnd);
    regs_give_back(at, e->regs, operand);
    pointer(at, e, operand);
    reg_id_t result = regs_reserve(at, e->regs, operand);
    reg_id_t scratch = regs_reserve(at, e->regs, operand);
    at_flush(at);
    drutil_insert_get_mem_addr(at->drcontext, at->bb, at->where, opnd, result, scratch);
    code_store(at, e->pointer, place(e, slot), result, 8);
    regs_release(e->regs, scratch);
    regs_release(e->regs, result);
}

static void
vector(at_t *at, emit_t *e, const capture_t *c)
{
    reg_id_t reg = opnd_get_reg(c->opnd);
    opnd_t to = place_opnd(e, c->slot, reg_get_size(reg));
    bool upper = reg_is_strictly_zmm(reg) ||
                 (reg_is_strictly_ymm(reg) && reg >= DR_REG_YMM16) ||
                 (reg_is_strictly_xmm(reg) && reg >= DR_REG_XMM16);
    if (upper)
        insert(at, INSTR_CREATE_vmovdqu64_mask(at->drcontext, to, opnd_create_reg(DR_REG_K0), c->opnd));
    else if (reg_is_strictly_ymm(reg))
        insert(at, INSTR_CREATE_vmovdqu(at->drcontext, to, c->opnd));
    else if (reg_is_mmx(reg))
        insert(at, INSTR_CREATE_movq(at->drcontext, to, c->opnd));
    else
        insert(at, INSTR_CREATE_movdqu(at->drcontext, to, c->opnd));
}

/* Copies `bytes` from `offset` on of what has just been stored or loaded. The address is what the host will compute. */
static void
copy(at_t *at, emit_t *e, const capture_t *c, uint offset, uint bytes)
{
    const wire_ref_t *r = &e->plan->refs[c->ref];
    reg_id_t address = regs_reserve(at, e->regs, 0);
    reg_id_t data = regs_reserve(at, e->regs, 0);
    code_immediate(at, address, r->disp + offset);
    if (r->slot != NO_SLOT) {
        code_load(at, data, e->pointer, place(e, r->slot), 8);
        code_sum(at, address, address, data, 1);
    }
    for (uint done = 0; done < bytes;) {
        uint left = bytes - done;
        uint n = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
        code_load(at, data, address, (int)done, n);
        code_store(at, e->pointer, place(e, c->slot) + (int)done, data, n);
        done += n;
    }
    regs_release(e->regs, data);
    regs_release(e->regs, address);
}

/* The flags can only be pushed, and not on the program's stack: below it may be data. */
static void
flags(at_t *at, emit_t *e, const capture_t *c)
{
    reg_id_t scratch = regs_reserve(at, e->regs, 0);
    regs_reserve_this(at, e->regs, DR_REG_RSP);
    code_load_tls(at, DR_REG_RSP, thread_tls(TLS_STACK));
    insert(at, INSTR_CREATE_pushf(at->drcontext));
    insert(at, INSTR_CREATE_pop(at->drcontext, opnd_create_reg(scratch)));
    regs_give_back(at, e->regs, reg_set(DR_REG_RSP));
    code_store(at, e->pointer, place(e, c->slot), scratch, 8);
    regs_release(e->regs, scratch);
}

void
capture_emit(at_t *at, emit_t *e, const capture_t *c)
{
    pointer(at, e, reg_set_of_opnd(c->opnd));
    switch (c->what) {
    case CAP_REG:
        general(at, e, opnd_get_reg(c->opnd), place(e, c->slot), 8);
        break;
    case CAP_ADDRESS:
        if (opnd_is_near_base_disp(c->opnd) && opnd_get_size(c->opnd) == OPSZ_lea)
            sum(at, e, c->opnd, c->slot);
        else
            whole_address(at, e, c->opnd, c->slot);
        break;
    case CAP_MASK:
        if (has_avx512bw)
            insert(at, INSTR_CREATE_kmovq(at->drcontext, place_opnd(e, c->slot, OPSZ_8), c->opnd));
        else
            insert(at, INSTR_CREATE_kmovw(at->drcontext, place_opnd(e, c->slot, OPSZ_2), c->opnd));
        break;
    case CAP_VECTOR: vector(at, e, c); break;
    case CAP_FEATURES:
        general(at, e, DR_REG_RAX, place(e, c->slot), 4);
        general(at, e, DR_REG_RDX, place(e, c->slot) + 4, 4);
        break;
    case CAP_TILES:
        tiles_capture(at, e->pointer, place(e, c->slot));
        break;
    case CAP_VALUE: copy(at, e, c, 0, e->plan->refs[c->ref].size); break;
    case CAP_HEADER: copy(at, e, c, XSAVE_HEADER, XSAVE_HEADER_WORDS * sizeof(uint64)); break;
    case CAP_FLAGS: flags(at, e, c); break;
    default: break;
    }
}
