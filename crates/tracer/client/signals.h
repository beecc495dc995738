/* What the engine knows about a thread's signals (engine/signals.c). */
#ifndef PRESTORE_SIGNALS_H
#define PRESTORE_SIGNALS_H

/* Has the engine queued a signal that the thread has yet to get? */
int engine_signal_waits(void *drcontext);

/* Has the engine queued a signal, blocked as the thread's mask is now, that would end an
 * rt_sigsuspend with `mask`, the kernel's form: bit n-1 blocks signal n? */
int engine_signal_queued(void *drcontext, unsigned long long mask);

/* Makes the engine look through its queue before the program goes on. */
void engine_signals_deliver(void *drcontext);

/* Would the program's own code get `sig` now? */
int engine_signal_handled(void *drcontext, int sig);

/* What the thread blocks, and the process ignores and handles, itself; the kernel's form as above. */
void engine_signal_masks(void *drcontext, unsigned long long *blocked, unsigned long long *ignored,
                         unsigned long long *caught);

/* What was sent of blocked faults and waits in the engine, to the thread and to its process. */
void engine_signals_pending(void *drcontext, unsigned long long *thread, unsigned long long *process);

/* What another thread of the process blocks itself, and what was sent to it as above; false where the
 * engine knows no such thread. */
int engine_signals_of(int thread, unsigned long long *blocked, unsigned long long *pending,
                      unsigned long long *shared);

/* What the thread executes next (SYS_execve) runs without the engine. */
void engine_exec_natively(void *drcontext);

/* What it executes next lies at `path`, whatever it is executed as. */
void engine_exec_file(void *drcontext, const char *path);

#endif
