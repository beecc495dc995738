/* Values of stores that inlined code does not copy: repeated, masked, scattered and large ones. Each
 * ends its block; behind it a call looks where it has stored and writes the bytes down, so that their
 * number need not be known before. Atomics end their blocks too, with a time stamp behind them. */
#ifndef PRESTORE_STORED_H
#define PRESTORE_STORED_H

#include "dr_api.h"
#include "plan.h"

typedef struct stored_t stored_t;

/* Values are recorded: blocks are to end where that needs it. */
bool stored_init(void);
void stored_exit(void);

/* Is what `instr` stores by `r` copied by inlined code? */
bool stored_inline(instr_t *instr, const wire_ref_t *r);

/* Does `instr` store only if what was there is what it expected? */
bool stored_if_equal(instr_t *instr);

/* What the last instruction of a described block stores by the call; NULL: nothing. The same for
 * the same block. */
const stored_t *stored_of(const plan_t *plan, instr_t *last, const wire_ref_t *refs);

/* Called from the code cache behind such an instruction. */
void stored_behind(void);

/* Is `mc` at a repeated instruction, or one that stores lanes or rows one by one, that a fault has
 * stopped? Then what it has stored before. The question comes before the execution is cut, the answer behind. */
bool stored_partly(void *drcontext, const dr_mcontext_t *mc);
void stored_until_fault(void *drcontext, const dr_mcontext_t *mc);

#endif
