/* Seccomp without the kernel: its filters would not let the engine live. */
#ifndef PRESTORE_SECCOMP_H
#define PRESTORE_SECCOMP_H

#include "dr_api.h"

void seccomp_init(void);

void seccomp_exit(void);

/* In a forked child, which has its one thread's filters. */
void seccomp_forked(void *drcontext);

/* Has the calling thread filters? */
bool seccomp_active(void);

/* Gives the thread's filters to the kernel: what comes next is the program's own execve, and the
 * new image runs without us. */
void seccomp_hand_over(void *drcontext);

#endif
