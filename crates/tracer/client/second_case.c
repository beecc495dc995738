#include "second_case.h"

#include "options.h"
#include "ring.h"
#include "session.h"
#include "thread.h"

/* The engine's most (src/launch.rs). A block takes at least a word of a buffer. */
#define BLOCK_INSTRS 128

/* Does a thread see to it? */
static bool claimed;
/* It is done: by the flush of this number. */
static volatile bool done;
static uint flush;

/* What so many buffers may tell of, in instructions. */
static uint64
most_of(uint buffers)
{
    return (uint64)buffers * options.slot_words * BLOCK_INSTRS;
}

bool
second_case_later(void)
{
    return options.burst > 0 && options_record() && !options.regions_only &&
        options.dense > most_of(2);
}

bool
second_case_there(void)
{
    return done || !second_case_later();
}

bool
second_case_wanted(void *drcontext, bool translating)
{
    if (!second_case_later() || !done || !translating)
        return second_case_there();
    /* A thread stays in a block of before the flush until it leaves it for the engine. (The numbers
     * begin anew when the engine has thrown all code away.) */
    thread_t *t = thread_of(drcontext);
    return dr_flush_number(NULL) < flush || dr_flush_number(drcontext) >= flush ||
        (t != NULL && t->window.joined);
}

/* No thread builds blocks now. */
static void
on_flushed(void *executed)
{
    flush = dr_flush_number(NULL);
    window_begin(*(uint64 *)executed);
    done = true;
}

void
second_case_look(void *drcontext)
{
    thread_t *t = thread_of(drcontext);
    wire_ring_t *ring = t->channel.ring;
    if (second_case_there() || ring == NULL || session_was_stopped())
        return;
    /* One buffer may tell of as much as this before it is looked at again. */
    uint64 due = options.dense - most_of(2);
    /* The host lags behind. A thread by itself is exact: it waits where that matters. */
    if (ring->executed_in_all + most_of(ring_untaken(ring)) < due)
        return;
    if (!channel_wait_taken(drcontext, &t->channel) || ring->executed_in_all < due ||
        __atomic_exchange_n(&claimed, true, __ATOMIC_SEQ_CST))
        return;
    uint64 executed = ring->executed_in_all;
    t->window.counted = ring->executed;
    dr_unlink_flush_all(on_flushed, &executed);
}

void
second_case_forked(void)
{
    claimed = done;
}
