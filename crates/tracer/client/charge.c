#include "charge.h"

#include "access.h"
#include "flags.h"
#include "gencode.h"
#include "leave.h"
#include "thread.h"

static byte *spent_code;

charge_t
charge_of(instrlist_t *bb, bool spread)
{
    instr_t *first = instrlist_first_app(bb);
    charge_t charge = { first == NULL ? NULL : instr_get_app_pc(first), 0, 0 };
    for (instr_t *i = first; i != NULL; i = instr_get_next_app(i))
        charge.instrs += is_program_instr(i) ? 1 : 0;
    /* Neighbours are executed one after the other. */
    if (spread)
        charge.part = (uint)((uint64)charge.begin * 0x9e3779b97f4a7c15ull >> 32) % BUDGETS;
    return charge;
}

static void
call_spent(void *drcontext, instrlist_t *bb, instr_t *where, const regs_t *regs,
           const charge_t *charge)
{
    instr_t *back = INSTR_CREATE_label(drcontext);
    insert(bb, where,
           INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(DR_REG_RCX), opnd_create_instr(back)));
    insert(bb, where, INSTR_CREATE_jmp(drcontext, opnd_create_pc(spent_code)));
    insert(bb, where, back);
    leave_insert(drcontext, bb, where, regs, charge->begin, charge->instrs);
}

void
charge_emit(void *drcontext, instrlist_t *bb, instr_t *where, regs_t *regs,
            const charge_t *charge)
{
    opnd_t budget = thread_slot(drcontext, TLS_BUDGET + charge->part);
    int instrs = (int)charge->instrs;
    instr_t *solvent = INSTR_CREATE_label(drcontext);
    if (flags_unseen(where, regs_ahead(regs))) {
        insert(bb, where, INSTR_CREATE_sub(drcontext, budget, OPND_CREATE_INT32(instrs)));
        insert(bb, where, INSTR_CREATE_jcc(drcontext, OP_jns, opnd_create_instr(solvent)));
        bool borrowed = (regs->ours & reg_set(DR_REG_RCX)) == 0;
        regs_reserve_this(drcontext, bb, where, regs, DR_REG_RCX);
        call_spent(drcontext, bb, where, regs, charge);
        if (borrowed)
            regs_give_back(drcontext, bb, where, regs, reg_set(DR_REG_RCX));
        insert(bb, where, solvent);
        regs_release(regs, DR_REG_RCX);
        return;
    }
    /* Without the flags: the budget is below zero when the upper half of it is not zero. */
    opnd_t rcx = opnd_create_reg(DR_REG_RCX);
    regs_reserve_this(drcontext, bb, where, regs, DR_REG_RCX);
    insert(bb, where, INSTR_CREATE_mov_ld(drcontext, rcx, budget));
    insert(bb, where,
           INSTR_CREATE_lea(drcontext, rcx,
                            OPND_CREATE_MEM_lea(DR_REG_RCX, DR_REG_NULL, 0, -instrs)));
    insert(bb, where, INSTR_CREATE_mov_st(drcontext, budget, rcx));
    insert_jump_if_upper_zero(drcontext, bb, where, solvent);
    call_spent(drcontext, bb, where, regs, charge);
    insert(bb, where, solvent);
    regs_release(regs, DR_REG_RCX);
}

void
charge_init(void)
{
    spent_code = gencode_make(window_spent);
}

void
charge_exit(void)
{
    gencode_free(spent_code);
}
