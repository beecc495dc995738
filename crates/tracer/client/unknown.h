/* Instructions that the engine cannot decode: executed as they are, counted and reported. */
#ifndef PRESTORE_UNKNOWN_H
#define PRESTORE_UNKNOWN_H

#include "dr_api.h"

void unknown_init(void);
void unknown_exit(void);

/* Does `info` say that the engine stopped at an instruction it does not know, and could it be
 * executed? The program then goes on behind it: the signal is to be redirected. Where such an
 * instruction itself faults, the program gets the illegal instruction signal, not that of the
 * fault. */
bool unknown_executed(void *drcontext, dr_siginfo_t *info);

/* In a forked child: the counts so far are the parent's. */
void unknown_forked(void);

#endif
