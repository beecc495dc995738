/* Programs that use the GS segment, which the engine needs for itself. */
#ifndef PRESTORE_GS_BASE_H
#define PRESTORE_GS_BASE_H

#include "dr_api.h"

/* Before a system call: ends the program with a message where the call would move GS. False where the call has its
 * result and is not made. */
bool gs_base_before_syscall(void *drcontext, int number);

/* A selector that is loaded may have a base: asks for it when `instr`, if it is such a load, is executed. */
void gs_base_before_load(void *drcontext, instrlist_t *bb, instr_t *instr);

#endif
