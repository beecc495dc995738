#include "transactions.h"

#include "access.h"
#include "cut.h"
#include "drbbdup.h"
#include "drmgr.h"

/* A transaction that aborted would go on at the program's own code, past the recorder. Each aborts at
 * once instead, as it may on any processor and does on those whose microcode takes transactions away:
 * status 0 asks for no other attempt. What the program does then is what it does when it fails: its
 * accesses are those of the way out, which it must have.
 *
 * The instruction itself is executed all the same: whether it is illegal, the processor does not always say (where it never
 * begins a transaction, cpuid may deny or, in a virtual machine, hide that it may be executed). Its way out leads behind an
 * xabort, as the program's need not be in reach of the code cache. */

static instr_t *
first_begin(instrlist_t *bb)
{
    instr_t *i = instrlist_first_app(bb);
    while (i != NULL && !(is_program_instr(i) && instr_get_opcode(i) == OP_xbegin))
        i = instr_get_next_app(i);
    return i;
}

static dr_emit_flags_t
on_app2app(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating)
{
    instr_t *begin = first_begin(bb);
    if (begin == NULL)
        return DR_EMIT_DEFAULT;
    app_pc pc = instr_get_app_pc(begin), way_out = opnd_get_pc(instr_get_src(begin, 0));
    cut_block(drcontext, bb, instr_get_next_app(begin));
    instr_t *over = INSTR_CREATE_label(drcontext);
    instr_set_src(begin, 0, opnd_create_instr(over));
    instrlist_append(bb, INSTR_XL8(INSTR_CREATE_xabort(drcontext, OPND_CREATE_INT8(0)), pc));
    instrlist_meta_append(bb, over);
    instr_t *status = INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(DR_REG_EAX), OPND_CREATE_INT32(0));
    instrlist_append(bb, INSTR_XL8(status, pc));
    if (way_out != decode_next_pc(drcontext, pc))
        instrlist_append(bb, INSTR_XL8(INSTR_CREATE_jmp(drcontext, opnd_create_pc(way_out)), pc));
    return DR_EMIT_DEFAULT;
}

bool
transactions_init(void)
{
    drmgr_priority_t first = { .struct_size = sizeof(first),
                               .name = "prestore_transactions",
                               .priority = DRMGR_PRIORITY_APP2APP_DRBBDUP - 1100 };
    return drmgr_register_bb_app2app_event(on_app2app, &first);
}
