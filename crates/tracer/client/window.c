#include "window.h"

#include "forms.h"
#include "leave.h"
#include "options.h"
#include "thread.h"

/* Instructions that a thread may execute before it looks where the windows are: more, a small part of
 * the way, where the next boundary is far. Another thread may be that far behind when a boundary is
 * reached; a single thread is exact to one block. */
#define GRANT 10000
/* Where no boundary follows. Budgets stay below 2^31: inlined code looks at their upper half. Now
 * and then also because signals are looked for. */
#define LONG_GRANT (1ll << 24)
/* No budget is ever this, and no count of instructions. */
#define NEVER (1ull << 63)

/* Instructions granted to all threads since the process started. */
static volatile int64 granted;

typedef struct {
    bool inside;
    int64 left; /* to the next boundary; at least 1 */
    uint64 number; /* of the window, with bursts */
} span_t;

/* Every window is recorded at first, one of four when that has gone on for long, and so on: each time the
 * program has run four times as long, one of four times as many. Windows that are recorded later would have
 * been earlier, so that who takes each of them alone has seen all times alike. */
static span_t
burst_at(int64 at)
{
    int64 burst = (int64)options.burst, dense = (int64)options.dense, every = 1;
    while (at >= dense && every < (int64)options.thinnest) {
        dense *= 4;
        every *= 4;
    }
    int64 number = at / burst, next = (number / every + 1) * every;
    if (number % every == 0)
        return (span_t){ true, burst - at % burst, (uint64)number };
    return (span_t){ false, next * burst - at, 0 };
}

static span_t
span_at(int64 at)
{
    if (options.burst > 0)
        return burst_at(at);
    int64 skip = (int64)options.skip, take = (int64)options.take, period = (int64)options.period;
    if (at < skip)
        return (span_t){ false, skip - at, 0 };
    if (take == 0)
        return (span_t){ true, INT64_MAX, 0 };
    int64 into = at - skip;
    if (period > 0)
        into %= period;
    if (into < take)
        return (span_t){ true, take - into, 0 };
    return (span_t){ false, period > 0 ? period - into : INT64_MAX, 0 };
}

static int64
budget(thread_t *t)
{
    int64 sum = 0;
    for (uint i = 0; i < BUDGETS; i++)
        sum += (int64)*thread_slot_of(t, TLS_BUDGET + i);
    return sum;
}

/* All of it goes to the first part, unless blocks are charged to any. Then half goes to the part that
 * was exhausted, as the thread may be in a loop of one block. */
static void
set_budget(thread_t *t, int64 sum)
{
    bool spread = forms_now() == FORM_COUNTED && sum > 0;
    uint spent = 0;
    for (uint i = 0; spread && i < BUDGETS; i++) {
        if ((int64)*thread_slot_of(t, TLS_BUDGET + i) < 0)
            spent = i;
    }
    int64 part = spread ? sum / (2 * BUDGETS) : 0;
    for (uint i = 0; i < BUDGETS; i++)
        *thread_slot_of(t, TLS_BUDGET + i) = (uint64)part;
    *thread_slot_of(t, TLS_BUDGET + spent) = (uint64)(sum - (BUDGETS - 1) * part);
}

static bool
recording(thread_t *t)
{
    return *thread_slot_of(t, TLS_PHASE) != 0;
}

/* Books what was executed since the last look, under the phase it was executed in. */
static void
settle(thread_t *t)
{
    window_t *w = &t->window;
    /* It holds one less, so that it turns negative as soon as nothing is left. */
    int64 left = budget(t) + 1;
    uint64 executed = (uint64)(w->left - left);
    w->left = left;
    if (!recording(t))
        w->gap += executed;
    if (w->tally != NULL)
        *(recording(t) ? &w->tally->recorded : &w->tally->skipped) += executed;
}

/* How many are granted where the next boundary is `left` away: few near it. */
static int64
grant_before(int64 left)
{
    int64 part = left / 1024;
    int64 n = part < GRANT ? GRANT : part < LONG_GRANT ? part : LONG_GRANT;
    return n < left ? n : left;
}

/* Reserves the thread's next instructions. They all lie on one side of the next boundary, so that
 * the windows of all threads add up to what was asked for. Answers how far away that is. */
static int64
grant(thread_t *t)
{
    window_t *w = &t->window;
    int64 old = __atomic_load_n(&granted, __ATOMIC_RELAXED), at, n;
    span_t span;
    do {
        /* An overdraft is paid back first; what is left is returned. */
        at = old - w->left;
        span = span_at(at);
        n = grant_before(span.left);
    } while (!__atomic_compare_exchange_n(&granted, &old, at + n, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    w->in_window = span.inside;
    w->number = span.number;
    w->left = n;
    set_budget(t, n - 1);
    return span.left;
}

static void
set_phase(void *drcontext, thread_t *t)
{
    bool on = t->window.in_window && (!options.regions_only || t->window.depth > 0);
    bool was = recording(t);
    if (on && !was) {
        on = forms_enter_window();
        if (on)
            window_close_gap(drcontext);
    }
    *thread_slot_of(t, TLS_PHASE) = on;
    if (was && !on)
        forms_leave_window();
    if (on && options.burst > 0 && t->window.number != t->window.told_number) {
        t->window.told_number = t->window.number;
        thread_special(drcontext, REC_WINDOW, 1, &t->window.number);
    }
}

void
window_begin(uint64 executed)
{
    __atomic_store_n(&granted, (int64)executed, __ATOMIC_RELAXED);
}

/* The thread executes its first block with two cases. What it executed before, the host has counted. */
static void
join(void *drcontext, thread_t *t)
{
    window_t *w = &t->window;
    wire_ring_t *ring = t->channel.ring;
    w->joined = true;
    if (ring == NULL || w->tally == NULL)
        return;
    thread_full();
    if (!channel_wait_taken(drcontext, &t->channel))
        return;
    w->tally->recorded += ring->executed;
    if (w->counted != NEVER)
        __atomic_add_fetch(&granted, (int64)(ring->executed - w->counted), __ATOMIC_RELAXED);
}

void
window_spent(void)
{
    void *drcontext = dr_get_current_drcontext();
    if (!thread_of(drcontext)->window.joined)
        join(drcontext, thread_of(drcontext));
    /* Nothing is booked yet: it comes back here. */
    leave_for_signal(drcontext);
    thread_t *t = thread_of(drcontext);
    if (budget(t) >= 0) {
        /* Only a part of the budget is spent. */
        set_budget(t, budget(t));
        return;
    }
    settle(t);
    t->window.before_flip = recording(t);
    int64 left = grant(t);
    t->window.flipped_at = budget(t);
    set_phase(drcontext, t);
    if (!recording(t)) {
        thread_before_syscall(drcontext, -1);
        forms_gap((uint64)left);
    }
}

void
window_enter(void)
{
    void *drcontext = dr_get_current_drcontext();
    thread_t *t = thread_of(drcontext);
    settle(t);
    t->window.depth++;
    if (t->window.tally != NULL)
        t->window.tally->regions++;
    set_phase(drcontext, t);
}

void
window_leave(void)
{
    void *drcontext = dr_get_current_drcontext();
    thread_t *t = thread_of(drcontext);
    settle(t);
    if (t->window.depth > 0)
        t->window.depth--;
    set_phase(drcontext, t);
}

void
window_close_gap(void *drcontext)
{
    if (!options_windowed())
        return;
    thread_t *t = thread_of(drcontext);
    settle(t);
    uint64 gap = t->window.gap;
    /* First: the record itself is a special one. */
    t->window.gap = 0;
    if (gap > 0)
        thread_special(drcontext, REC_SKIP, 1, &gap);
}

bool
window_may_refund(void *drcontext)
{
    thread_t *t = thread_of(drcontext);
    return !options_windowed() || budget(t) != t->window.flipped_at;
}

void
window_refund(void *drcontext, uint instrs)
{
    if (options_windowed() && thread_of(drcontext)->window.joined)
        *thread_slot_of(thread_of(drcontext), TLS_BUDGET) += instrs;
}

bool
window_records(void *drcontext)
{
    if (!options_windowed())
        return true;
    thread_t *t = thread_of(drcontext);
    /* A block at whose head the phase changed runs to its end in the phase before. */
    return budget(t) == t->window.flipped_at ? t->window.before_flip : recording(t);
}

void
window_thread_init(void *drcontext, wire_tally_t *tally)
{
    if (!options_windowed())
        return;
    thread_t *t = thread_of(drcontext);
    t->window = (window_t){
        .tally = tally, .flipped_at = (int64)NEVER, .told_number = NEVER, .counted = NEVER
    };
    /* The first block that is charged finds nothing left. */
    set_budget(t, -1);
    if (forms_begin_recorded()) {
        *thread_slot_of(t, TLS_PHASE) = 1;
        return;
    }
    t->window.joined = true;
    *thread_slot_of(t, TLS_PHASE) = 0;
    if (!forms_enter_window_as_is())
        return;
    grant(t);
    set_phase(drcontext, t);
    forms_leave_window();
}

void
window_thread_exit(void *drcontext)
{
    if (!options_windowed())
        return;
    thread_t *t = thread_of(drcontext);
    window_close_gap(drcontext);
    __atomic_sub_fetch(&granted, t->window.left, __ATOMIC_RELAXED);
    window_thread_drop(drcontext);
}

void
window_thread_drop(void *drcontext)
{
    if (options_windowed() && recording(thread_of(drcontext)))
        forms_leave_window();
}

void
window_thread_fork(void *drcontext, wire_tally_t *tally)
{
    if (!options_windowed())
        return;
    /* The child goes on where its parent was; its own stream starts at no instruction. */
    thread_t *t = thread_of(drcontext);
    t->window.tally = NULL;
    settle(t);
    t->window.gap = 0;
    t->window.told_number = t->window.counted = NEVER;
    t->window.tally = tally;
    forms_forked(recording(t));
}
