/* Programs that use the GS segment, which the engine needs for itself. */
#ifndef PRESTORE_GS_BASE_H
#define PRESTORE_GS_BASE_H

#include "dr_api.h"

/* Before a system call: ends the program with a message where the call would move GS. */
void gs_base_before_syscall(void *drcontext, int number);

#endif
