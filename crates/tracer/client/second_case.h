/* When the blocks of a process get their second case. With a budget a process is recorded whole at
 * first, by blocks of one case (client.c), as without one: what does not run for long pays nothing.
 * Before the first stretch is left out, all its code is flushed once, and blocks have two cases from
 * then on (cases.c). Each process by itself: what short ones cost is mostly the translation of their
 * code, which two cases make dearer, and what is recorded of one does not depend on others. */
#ifndef PRESTORE_SECOND_CASE_H
#define PRESTORE_SECOND_CASE_H

#include "dr_api.h"

/* Do blocks get it while the process runs? Otherwise they have two cases from the beginning, or
 * never (options_windowed). */
bool second_case_later(void);

/* Have they got it? */
bool second_case_there(void);

/* Have blocks that are built now two cases, or, if `translating`, the one that the thread is in? */
bool second_case_wanted(void *drcontext, bool translating);

/* Called from a block in which the thread's buffer was handed over: is it time? */
void second_case_look(void *drcontext);

/* In a forked child: what another thread was about to do is not done there. */
void second_case_forked(void);

#endif
