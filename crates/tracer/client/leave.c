#include "leave.h"

#include <signal.h>
#include <string.h>

#include "signals.h"
#include "thread.h"

/* A short jump over the way out, which is what usually happens. */
#define OVER_BYTES 2
#define FAULT_BYTES 2

void
leave_insert(void *drcontext, instrlist_t *bb, instr_t *where, app_pc begin, uint instrs)
{
    instr_t *over = INSTR_CREATE_label(drcontext);
    instrlist_meta_preinsert(bb, where,
                             INSTR_CREATE_jmp_short(drcontext, opnd_create_instr(over)));
    /* With the translation of the block's begin the engine has the program's registers restored. */
    instrlist_meta_fault_preinsert(bb, where, INSTR_XL8(INSTR_CREATE_ud2(drcontext), begin));
    /* Never executed: how many instructions have been charged for nothing. */
    instrlist_meta_preinsert(
        bb, where,
        INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(DR_REG_EAX), OPND_CREATE_INT32((int)instrs)));
    instrlist_meta_preinsert(bb, where, over);
}

bool
leave_for_signal(void *drcontext)
{
    thread_t *t = thread_of(drcontext);
    if (!engine_signal_waits(drcontext) || !window_may_refund(drcontext))
        return false;
    uint64 *back = thread_slot_of(t, TLS_BACK);
    *back += OVER_BYTES;
    t->leaving = (byte *)*back;
    return true;
}

bool
leave_faulted(void *drcontext, const dr_siginfo_t *info)
{
    thread_t *t = thread_of(drcontext);
    if (t == NULL || t->leaving == NULL || info->sig != SIGILL || !info->raw_mcontext_valid ||
        info->raw_mcontext == NULL)
        return false;
    const byte *pc = info->raw_mcontext->pc;
    if (pc != t->leaving)
        return false;
    uint32_t instrs;
    memcpy(&instrs, pc + FAULT_BYTES + 1, sizeof(instrs));
    t->leaving = NULL;
    window_refund(drcontext, instrs);
    return true;
}
