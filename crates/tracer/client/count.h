/* Scope `count`: how often each block ran, per thread, exact; nothing else. */
#ifndef PRESTORE_COUNT_H
#define PRESTORE_COUNT_H

#include "regs.h"
#include "thread.h"

void count_thread_init(void *drcontext, thread_t *t);
void count_thread_exit(thread_t *t);
/* In a forked child: forgets the parent's counters. */
void count_thread_drop(thread_t *t);

/* Inserts the increment of block `id` before `where`, its first instruction. */
void count_emit(at_t *at, regs_t *regs, uint id);

#endif
