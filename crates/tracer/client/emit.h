/* The inlined code that writes a block's record. */
#ifndef PRESTORE_EMIT_H
#define PRESTORE_EMIT_H

#include "plan.h"
/* after dr_api.h */
#include "drvector.h"

/* What is reserved between a block's first and last capture. */
typedef struct {
    plan_t *plan;
    uint at;           /* index of the current instruction */
    uint next_capture; /* first capture not yet emitted */
    uint next_after;   /* likewise of those behind their instruction */
    reg_id_t pointer;  /* start of the record; DR_REG_NULL: not reserved */
    drvector_t allowed; /* registers that are good to reserve */
    bool fell_back;     /* had to reserve another one */
} emit_t;

void emit_init(void);
void emit_exit(void);

emit_t *emit_begin(void *drcontext, plan_t *plan, instrlist_t *bb);
void emit_end(void *drcontext, emit_t *e);

/* Inserts what belongs before `instr`, the next application instruction of the block. */
void emit_before(void *drcontext, instrlist_t *bb, instr_t *instr, emit_t *e);

#endif
