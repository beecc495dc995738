/* What a program may ask of the kernel by prctl() that would reach the engine's and the client's code as well. */
#ifndef PRESTORE_REFUSED_PRCTL_H
#define PRESTORE_REFUSED_PRCTL_H

#include "dr_api.h"

/* Before a system call: ends the program with a message where it is one of these. */
void refused_prctl_before_syscall(void *drcontext, int number);

#endif
