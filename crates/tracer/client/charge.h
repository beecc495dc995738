/* The inlined code that takes a block's instructions from the thread's budget (window.h).
 *
 * The budget is the sum of several parts; a block's address decides which part it is charged to. With
 * a single part each block would load what the block before it has just stored, and wait for that
 * store to be forwarded. Blocks with two cases gain nothing by it and are charged to the first part. */
#ifndef PRESTORE_CHARGE_H
#define PRESTORE_CHARGE_H

#include "regs.h"
#include "thread.h"

void charge_init(void);
void charge_exit(void);
void charge_thread_init(thread_t *t);

/* What is charged for a block, and to which part. */
typedef struct {
    app_pc begin;
    uint instrs;
    uint part;
} charge_t;

charge_t charge_of(instrlist_t *bb, bool spread);

/* Inserts it before the block's first instruction. */
void charge_emit(at_t *at, regs_t *regs, const charge_t *charge);

#endif
