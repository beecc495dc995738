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
call_spent(at_t *at, const regs_t *regs, const charge_t *charge)
{
    ahead_t back = code_address(at, DR_REG_RCX);
    code_jump_by_tls(at, thread_tls(TLS_SPENT));
    code_land(at, back);
    leave_insert(at, regs, charge->begin, charge->instrs);
}

void
charge_emit(at_t *at, regs_t *regs, const charge_t *charge)
{
    tls_t budget = thread_tls(TLS_BUDGET + charge->part);
    int instrs = (int)charge->instrs;
    if (flags_unseen(at->where, regs_ahead(regs))) {
        code_subtract_tls(at, budget, instrs);
        ahead_t solvent = code_jump(at, JUMP_NOT_SIGN);
        bool borrowed = (regs->ours & reg_set(DR_REG_RCX)) == 0;
        regs_reserve_this(at, regs, DR_REG_RCX);
        call_spent(at, regs, charge);
        if (borrowed)
            regs_give_back(at, regs, reg_set(DR_REG_RCX));
        code_land(at, solvent);
        regs_release(regs, DR_REG_RCX);
        return;
    }
    /* Without the flags: the budget is below zero when the upper half of it is not zero. */
    regs_reserve_this(at, regs, DR_REG_RCX);
    code_load_tls(at, DR_REG_RCX, budget);
    code_add(at, DR_REG_RCX, DR_REG_RCX, -instrs);
    code_store_tls(at, budget, DR_REG_RCX);
    ahead_t solvent = code_jump_if_upper_zero(at);
    call_spent(at, regs, charge);
    code_land(at, solvent);
    regs_release(regs, DR_REG_RCX);
}

void
charge_init(void)
{
    spent_code = gencode_make(window_spent);
}

void
charge_thread_init(thread_t *t)
{
    *thread_slot_of(t, TLS_SPENT) = (uint64)spent_code;
}

void
charge_exit(void)
{
    gencode_free(spent_code);
}
