/* Seccomp without the kernel: its filters would not let the engine live. */
#ifndef PRESTORE_SECCOMP_H
#define PRESTORE_SECCOMP_H

#include "dr_api.h"
#include "drmgr.h"

typedef bool (*before_call_t)(void *drcontext, int number);

void seccomp_init(void);

void seccomp_exit(void);

/* Calls `callback` before system calls that the thread's filters let through. False from it: the call has its result and is
 * not made. Who answers a call, refuses it or changes it comes by this way, or filters would not hold for it. */
void seccomp_before_allowed(before_call_t callback, drmgr_priority_t *priority);

/* In a forked child, which has its one thread's filters. */
void seccomp_forked(void *drcontext);

/* Has the calling thread filters? */
bool seccomp_active(void);

/* Gives the thread's filters to the kernel: what comes next is the program's own execve, and the
 * new image runs without us. */
void seccomp_hand_over(void *drcontext);

#endif
