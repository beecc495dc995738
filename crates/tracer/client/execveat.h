/* execveat, which the engine does not follow. */
#ifndef PRESTORE_EXECVEAT_H
#define PRESTORE_EXECVEAT_H

#include "dr_api.h"

/* Before an execveat: makes an execve of it where a path leads to the same file. */
bool execveat_becomes_execve(void *drcontext);

/* Is it a script, whose interpreter gets a name for it? */
bool execveat_is_script(int dir, const char *given);

/* Keeps `path` until the call is over. */
const char *execveat_keep(void *drcontext, const char *path);

/* Before an execve: what is at `path` is executed instead. */
void execveat_goes_by(void *drcontext, const char *path);

/* Behind the call, which then has failed: the registers are as the program left them. */
void execveat_failed(void *drcontext);

void execveat_init(void);

#endif
