#include "symbolic.h"

#include "gpr.h"

static void
forget(symbolic_t *s, int i)
{
    s->regs[i].version = s->next_version++;
    s->regs[i].delta = 0;
}

void
symbolic_init(symbolic_t *s)
{
    s->next_version = 0;
    for (int i = 0; i < SYM_REGS; i++)
        forget(s, i);
}

sym_t
symbolic_get(const symbolic_t *s, reg_id_t reg)
{
    return s->regs[gpr_number(reg)];
}

static bool
is_full_reg(opnd_t opnd)
{
    return opnd_is_reg(opnd) && reg_is_gpr(opnd_get_reg(opnd)) && reg_is_64bit(opnd_get_reg(opnd));
}

/* Instructions that move a register by a constant or copy one: sets what the target then holds. */
static bool
known_result(const symbolic_t *s, instr_t *instr, reg_id_t *target, sym_t *result)
{
    int op = instr_get_opcode(instr);
    opnd_t dst, src;
    switch (op) {
    case OP_add:
    case OP_sub:
    case OP_inc:
    case OP_dec:
        dst = instr_get_dst(instr, 0);
        if (!is_full_reg(dst))
            return false;
        *target = opnd_get_reg(dst);
        *result = symbolic_get(s, *target);
        if (op == OP_inc || op == OP_dec) {
            result->delta += op == OP_inc ? 1 : -1;
            return true;
        }
        src = instr_get_src(instr, 0);
        if (!opnd_is_immed_int(src))
            return false;
        result->delta += op == OP_add ? opnd_get_immed_int(src) : -opnd_get_immed_int(src);
        return true;
    case OP_lea:
        dst = instr_get_dst(instr, 0);
        src = instr_get_src(instr, 0);
        if (!is_full_reg(dst) || !opnd_is_base_disp(src) ||
            opnd_get_index(src) != DR_REG_NULL || opnd_get_base(src) == DR_REG_NULL ||
            !reg_is_64bit(opnd_get_base(src)))
            return false;
        *target = opnd_get_reg(dst);
        *result = symbolic_get(s, opnd_get_base(src));
        result->delta += opnd_get_disp(src);
        return true;
    case OP_mov_ld:
    case OP_mov_st:
        dst = instr_get_dst(instr, 0);
        src = instr_get_src(instr, 0);
        if (!is_full_reg(dst) || !is_full_reg(src))
            return false;
        *target = opnd_get_reg(dst);
        *result = symbolic_get(s, opnd_get_reg(src));
        return true;
    case OP_push:
    case OP_push_imm:
    case OP_call:
    case OP_call_ind:
    case OP_pushf:
        *target = DR_REG_RSP;
        *result = symbolic_get(s, DR_REG_RSP);
        result->delta -= opnd_size_in_bytes(opnd_get_size(instr_get_dst(
            instr, instr_num_dsts(instr) - 1)));
        return true;
    default: return false;
    }
}

void
symbolic_step(symbolic_t *s, instr_t *instr)
{
    reg_id_t target = DR_REG_NULL;
    sym_t result;
    bool known = known_result(s, instr, &target, &result);
    if (!known && instr_get_opcode(instr) == OP_pop) {
        /* The stack pointer moves by a known amount, the popped register is new. */
        opnd_t dst = instr_get_dst(instr, 0);
        sym_t rsp = symbolic_get(s, DR_REG_RSP);
        rsp.delta += opnd_size_in_bytes(opnd_get_size(dst));
        if (opnd_is_reg(dst)) {
            int i = gpr_number(opnd_get_reg(dst));
            if (i >= 0)
                forget(s, i);
            if (i != DR_REG_RSP - DR_REG_RAX)
                s->regs[DR_REG_RSP - DR_REG_RAX] = rsp;
            return;
        }
    }
    for (int d = 0; d < instr_num_dsts(instr); d++) {
        opnd_t dst = instr_get_dst(instr, d);
        int i = opnd_is_reg(dst) ? gpr_number(opnd_get_reg(dst)) : -1;
        if (i >= 0)
            forget(s, i);
    }
    if (known)
        s->regs[gpr_number(target)] = result;
}
