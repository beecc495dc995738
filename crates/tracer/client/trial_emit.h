/* The code that makes a store non-temporal or flushes the line that it leaves. */
#ifndef PRESTORE_TRIAL_EMIT_H
#define PRESTORE_TRIAL_EMIT_H

#include "regs.h"
#include "trial_sites.h"
#include "trial_store.h"

/* Lines of a finding that a thread has left and not flushed yet. A line is flushed when so many more were
 * left: a program that reads back what it has just written would wait for the flush, as it does not
 * where a patch flushes what is complete. */
#define TRIAL_WAITING 4

void trial_emit_init(void);

/* Can this processor flush lines as `op` asks? */
bool trial_can_flush(trial_op_t op);

/* Inserted before `instr`, which is executed only where it is not done already. */
void trial_emit_skip(at_t *at, regs_t *regs, const trial_site_t *site, const store_t *store);

/* Inserted before `instr`: lets the line that it was in last wait, if that is another, and flushes the one
 * that waits longest. */
void trial_emit_flush(at_t *at, regs_t *regs, const trial_site_t *site, const store_t *store);

/* Words that a thread keeps: for each site the line that its store was in last, and behind those, for each
 * group (at its first site's place) the lines that wait. */
uint trial_lines(void);

/* What such a word is for the line at `address`: the complement of its number. */
uint64 trial_line_kept(const void *address);

#endif
