/* The inlined code that writes a block's record. */
#ifndef PRESTORE_EMIT_H
#define PRESTORE_EMIT_H

#include "plan.h"
#include "regs.h"
#include "thread.h"

typedef struct {
    plan_t *plan;
    regs_t *regs;
    uint next_capture; /* first capture not yet emitted */
    uint next_after;   /* likewise of those behind their instruction */
    reg_id_t pointer;  /* the record's end, while it is in use; DR_REG_NULL: in no register */
} emit_t;

void emit_init(void);
void emit_exit(void);
void emit_thread_init(thread_t *t);

emit_t *emit_begin(void *drcontext, plan_t *plan, regs_t *regs);
void emit_end(void *drcontext, emit_t *e);

/* Inserts what belongs before `regs->at`, the next application instruction of the block. */
void emit_before(at_t *at, emit_t *e);

/* Inserts what belongs behind the block's last instruction, `last`, where control falls through. */
void emit_behind(void *drcontext, instrlist_t *bb, instr_t *last, emit_t *e);

#endif
