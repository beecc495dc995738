#include "second_case.h"

#include "forms.h"
#include "options.h"
#include "ring.h"
#include "session.h"
#include "thread.h"

/* No thread builds blocks now. */
static void
on_flushed(void *executed)
{
    window_begin(*(uint64 *)executed);
}

void
second_case_look(void *drcontext)
{
    thread_t *t = thread_of(drcontext);
    wire_ring_t *ring = t->channel.ring;
    if (forms_now() != FORM_RECORDED || !forms_change_later() || ring == NULL ||
        session_was_stopped())
        return;
    /* One buffer may tell of as much as this before it is looked at again. */
    uint64 due = options.dense - forms_most_of(2);
    /* The host lags behind. A thread by itself is exact: it waits where that matters. */
    if (ring->executed_in_all + forms_most_of(ring_untaken(ring)) < due)
        return;
    if (!channel_wait_taken(drcontext, &t->channel) || ring->executed_in_all < due ||
        !forms_begin_change())
        return;
    uint64 executed = ring->executed_in_all;
    t->window.counted = ring->executed;
    if (forms_now() == FORM_RECORDED)
        forms_change(FORM_TWO_CASES, on_flushed, &executed);
    forms_end_change();
}
