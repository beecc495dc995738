/* Programs that have the processor stop them behind each instruction. */
#ifndef PRESTORE_TRAP_FLAG_H
#define PRESTORE_TRAP_FLAG_H

#include "dr_api.h"

/* The signal event: ends a program that steps through itself, with a message. */
void trap_flag_on_signal(const dr_siginfo_t *info);

#endif
