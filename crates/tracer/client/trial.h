/* Advice tried on the running program (scope `try`): nothing is recorded, and the stores that the host
 * lists are made non-temporal, or followed by a flush of the line that they leave, as their blocks are
 * translated. */
#ifndef PRESTORE_TRIAL_H
#define PRESTORE_TRIAL_H

#include "dr_api.h"
#include "thread.h"

/* After everything else that looks at blocks was set up; false after a message where the host's list
 * cannot be read. */
bool trial_init(void);
void trial_exit(void);

/* A thread's own: the lines that its stores were in last. */
void trial_thread_init(thread_t *t);
/* `ours`: it ends in this process, not only in a copy of it that a fork made. */
void trial_thread_exit(thread_t *t, bool ours);

/* Before each system call: what it may show to others is in memory by then. */
void trial_before_syscall(void *drcontext, int number);

/* A fork's child counts as a process of its own. */
void trial_forked(void);

/* Was the fault at a flush of ours, of a line that the program has given back? Then the thread is to go
 * on behind it: the signal is to be suppressed. */
bool trial_flush_faulted(void *drcontext, dr_siginfo_t *info);

#endif
