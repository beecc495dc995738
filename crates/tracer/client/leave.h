/* Ways out of the code cache for a thread that a signal waits for.
 *
 * The engine queues a signal that finds a thread in C code and delivers it when the thread leaves
 * the cache; a loop whose blocks are linked to each other never does. A signal that finds the
 * thread in a block is no problem: the engine then unlinks the block. Code that calls C code from a
 * block therefore looks for queued signals and, where there is one, faults in the block; the block
 * is begun anew once the signal is delivered. */
#ifndef PRESTORE_LEAVE_H
#define PRESTORE_LEAVE_H

#include "dr_api.h"

/* Inserts, where shared code comes back to, the way out of a block of `instrs` instructions that
 * begins at `begin`. */
void leave_insert(void *drcontext, instrlist_t *bb, instr_t *where, app_pc begin, uint instrs);

/* Called by C code that goes back to such a place. True: the thread will leave, and execute the
 * block it is in from its beginning. */
bool leave_for_signal(void *drcontext);

/* In the signal event: is it this fault? Then the event's context is where to go on. */
bool leave_faulted(void *drcontext, const dr_siginfo_t *info);

#endif
