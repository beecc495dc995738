#include "leave.h"

#include "signals.h"
#include "thread.h"

/* Where shared code comes back to: a short jump over two moves that are never executed, the
 * block's beginning and the note. */
#define OVER_BYTES 2
#define NOTE(regs, instrs) ((int)((uint)(regs)->ours << 16 | (instrs)))

void
leave_insert(at_t *at, const regs_t *regs, app_pc begin, uint instrs)
{
    ahead_t over = code_jump(at, JUMP_ALWAYS);
    code_immediate(at, DR_REG_RAX, (uint64)begin);
    code_constant(at, DR_REG_RAX, NOTE(regs, instrs));
    code_land(at, over);
}

reg_set_t
leave_noted(int64 note)
{
    return (reg_set_t)((uint)note >> 16);
}

/* The constant that the move at `*pc` loads; sets `*pc` behind it. */
static int64
constant(void *drcontext, byte **pc)
{
    instr_t instr;
    instr_init(drcontext, &instr);
    *pc = decode(drcontext, *pc, &instr);
    int64 value = opnd_get_immed_int(instr_get_src(&instr, 0));
    instr_free(drcontext, &instr);
    return value;
}

void
leave_for_signal(void *drcontext)
{
    if (!engine_signal_waits(drcontext) || !window_may_refund(drcontext))
        return;
    dr_mcontext_t mc = { .size = sizeof(mc), .flags = DR_MC_ALL };
    if (!dr_get_mcontext(drcontext, &mc))
        return;
    byte *pc = (byte *)*thread_slot_of(thread_of(drcontext), TLS_BACK) + OVER_BYTES;
    app_pc begin = (app_pc)constant(drcontext, &pc);
    int64 note = constant(drcontext, &pc);
    regs_restore(drcontext, leave_noted(note), &mc);
    mc.pc = begin;
    window_refund(drcontext, (uint)note & 0xffff);
    dr_redirect_execution(&mc);
}
