/* execveat, which the engine does not follow. */
#ifndef PRESTORE_EXECVEAT_H
#define PRESTORE_EXECVEAT_H

#include "dr_api.h"

/* Before an execveat: makes an execve of it where a path leads to the same file. */
bool execveat_becomes_execve(void *drcontext);

/* Behind the call, which then has failed: the registers are as the program left them. */
void execveat_failed(void *drcontext);

void execveat_init(void);

#endif
