/* Ways out of the code cache for a thread that a signal waits for.
 *
 * The engine queues a signal that finds a thread in C code and delivers it when the thread leaves
 * the cache; a loop whose blocks are linked to each other never does. A signal that finds the
 * thread in a block is no problem: the engine then unlinks the block. C code that is called from a
 * block's head therefore looks for queued signals and, where there is one, goes back to the engine
 * instead of the block, which is begun anew once the signal is delivered. Not by a fault, which the
 * engine handles under a lock that a fork of another thread holds while it waits for this one. */
#ifndef PRESTORE_LEAVE_H
#define PRESTORE_LEAVE_H

#include "regs.h"

/* Inserts, where shared code comes back to, what must be known to begin a block of `instrs`
 * instructions anew that begins at `begin`. */
void leave_insert(at_t *at, const regs_t *regs, app_pc begin, uint instrs);

/* Of the note that `leave_insert` leaves in a block: the registers of ours. */
reg_set_t leave_noted(int64 note);

/* Called by C code that goes back to such a place. Returns where no signal waits. */
void leave_for_signal(void *drcontext);

#endif
