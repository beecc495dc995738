/* The inlined code that takes a block's instructions from the thread's budget (window.h).
 *
 * The budget lies in several parts, and who is charged to which is told by where the block begins. A
 * part that is read just after it was written keeps the processor waiting for the write: of all that
 * a block takes which is only counted, that was the most. What has two cases waits for other things,
 * and is charged to the first part. */
#ifndef PRESTORE_CHARGE_H
#define PRESTORE_CHARGE_H

#include "regs.h"

void charge_init(void);
void charge_exit(void);

/* What is charged for a block, and to which part. */
typedef struct {
    app_pc begin;
    uint instrs;
    uint part;
} charge_t;

charge_t charge_of(instrlist_t *bb, bool spread);

/* Inserts it before the block's first instruction. */
void charge_emit(void *drcontext, instrlist_t *bb, instr_t *where, regs_t *regs,
                 const charge_t *charge);

#endif
