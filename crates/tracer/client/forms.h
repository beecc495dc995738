/* What the blocks of a process are made for, which changes while it runs with a budget or in windows.
 *
 * With a budget it is recorded whole at first, by blocks of one case (client.c), as without one:
 * what does not run for long pays nothing. Before the first window is left out, its blocks get a
 * second case (second_case.h), so that each thread passes from windows to gaps by itself. Where a
 * gap is so long that it pays to translate the code twice more, blocks are made for counting alone,
 * which takes a fraction of the code that two cases do; before any thread comes to the next window,
 * they have two cases again. What lies before the first window, or behind the last, is such a gap.
 *
 * Each change flushes all code. A thread is in a block of before the flush until it leaves that for
 * the engine, and a signal may have that block translated: the form of each flush is remembered. */
#ifndef PRESTORE_FORMS_H
#define PRESTORE_FORMS_H

#include "dr_api.h"

typedef enum {
    FORM_RECORDED,  /* one case, recorded */
    FORM_TWO_CASES, /* recorded or only charged, by the thread's phase */
    FORM_COUNTED,   /* one case, only charged */
} form_t;

/* What so many buffers may tell of, in instructions. */
uint64 forms_most_of(uint buffers);

/* After the options are known. */
void forms_init(void);

/* Do forms change while the process runs? */
bool forms_change_later(void);

/* The form of blocks that are built now. */
form_t forms_now(void);

/* The same for the block at hand: if `translating`, the one that the thread is in. */
form_t forms_of_block(void *drcontext, bool translating);

/* A block with two cases was made: flushing the code costs the making of another. */
void forms_made_two_cases(void);

/* Only one thread changes the form; false: another does at the moment. */
bool forms_begin_change(void);
void forms_end_change(void);

/* By that thread, from a block: flushes all code. Then, while no thread builds blocks, `flushed` (or
 * NULL) is called. False where the engine cannot flush now. */
bool forms_change(form_t to, void (*flushed)(void *), void *data);

/* A thread begins in a process that is recorded whole; false: it is not any more. */
bool forms_begin_recorded(void);

/* A thread comes to a window, or leaves it: while any is in one, no blocks are made for counting
 * alone. False: it cannot come to it from here now, but from another block. */
bool forms_enter_window(void);
void forms_leave_window(void);
/* The same outside blocks, where no code can be flushed. */
bool forms_enter_window_as_is(void);

/* Called from a block: nothing is recorded for `instrs` instructions more. */
void forms_gap(uint64 instrs);

/* In a forked child, whose one thread is `recording` or not. */
void forms_forked(bool recording);

#endif
