/* The code that makes a store non-temporal or flushes the line that it leaves. */
#ifndef PRESTORE_TRIAL_EMIT_H
#define PRESTORE_TRIAL_EMIT_H

#include "regs.h"
#include "trial_sites.h"
#include "trial_store.h"

void trial_emit_init(void);

/* Can this processor flush lines as `op` asks? */
bool trial_can_flush(trial_op_t op);

/* Inserted before `instr`, which is executed only where it is not done already. */
void trial_emit_skip(void *drcontext, instrlist_t *bb, instr_t *instr, regs_t *regs,
                     const trial_site_t *site, const store_t *store);

/* Inserted before `instr`: flushes the line that it was in last, if that is another. */
void trial_emit_flush(void *drcontext, instrlist_t *bb, instr_t *instr, regs_t *regs,
                      const trial_site_t *site, const store_t *store);

/* What a thread keeps for each site of the line that its store was in last, and behind those, for each group (at
 * its first site's place) of the line flushed last: the complement of its number. */
uint64 trial_line_kept(const void *address);

#endif
