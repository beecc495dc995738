/* The code that runs at an allocation function's entry and at returns. */
#ifndef PRESTORE_ALLOC_WATCH_H
#define PRESTORE_ALLOC_WATCH_H

#include "regs.h"

bool alloc_watch_init(void);
void alloc_watch_exit(void);

/* `call`: what the arguments mean, see alloc_symbols.h. */
void alloc_watch_entry(at_t *at, regs_t *regs, uint call);
void alloc_watch_return(at_t *at, regs_t *regs);

#endif
