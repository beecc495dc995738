#include "forms.h"

#include "options.h"
#include "wire.h"

/* The engine's most (src/launch.rs). A block takes at least a word of a buffer. */
#define BLOCK_INSTRS 128

/* Changes that are remembered. A thread would have to stay in one block for as many. */
#define CHANGES 1024

/* Only the thread that changes the form writes here, while no thread builds blocks. */
static struct {
    uint flush;
    form_t form;
} changes[CHANGES];
static volatile uint n_changes;
/* Flushes are numbered anew when the engine has thrown all code away: changes from this one on. */
static volatile uint since;
static uint last_flush;

static volatile form_t form;
static volatile int changing;
static volatile int in_windows; /* threads */
static volatile uint two_cases; /* made since the last flush */

uint64
forms_most_of(uint buffers)
{
    return (uint64)buffers * options.slot_words * BLOCK_INSTRS;
}

static bool
whole_at_first(void)
{
    return options.burst > 0 && options.dense > forms_most_of(2);
}

bool
forms_change_later(void)
{
    bool windows = options.skip > 0 || options.take > 0;
    return (windows || (options_record() && whole_at_first())) && !options.regions_only;
}

static form_t
first_form(void)
{
    bool windowed = options_windowed() && !(forms_change_later() && whole_at_first());
    return windowed ? FORM_TWO_CASES : FORM_RECORDED;
}

void
forms_init(void)
{
    form = first_form();
}

form_t
forms_now(void)
{
    return form;
}

/* While no other thread builds blocks, or changes the form. */
static uint
flush_number(void)
{
    uint now = dr_flush_number(NULL);
    if (now < last_flush)
        __atomic_store_n(&since, n_changes, __ATOMIC_RELEASE);
    last_flush = now;
    return now;
}

form_t
forms_of_block(void *drcontext, bool translating)
{
    if (!forms_change_later())
        return forms_now();
    if (!translating) {
        flush_number();
        return form;
    }
    uint number = dr_flush_number(drcontext), first = __atomic_load_n(&since, __ATOMIC_ACQUIRE);
    uint at = __atomic_load_n(&n_changes, __ATOMIC_ACQUIRE);
    while (at > first && changes[(at - 1) % CHANGES].flush > number)
        at--;
    return at == 0 ? first_form() : changes[(at - 1) % CHANGES].form;
}

void
forms_made_two_cases(void)
{
    __atomic_add_fetch(&two_cases, 1, __ATOMIC_RELAXED);
}

bool
forms_begin_change(void)
{
    return __atomic_exchange_n(&changing, 1, __ATOMIC_SEQ_CST) == 0;
}

void
forms_end_change(void)
{
    __atomic_store_n(&changing, 0, __ATOMIC_SEQ_CST);
}

typedef struct {
    form_t to;
    void (*flushed)(void *);
    void *data;
} change_t;

/* No thread builds blocks now. */
static void
on_flushed(void *arg)
{
    change_t *change = arg;
    uint at = n_changes;
    changes[at % CHANGES].flush = flush_number();
    changes[at % CHANGES].form = change->to;
    __atomic_store_n(&n_changes, at + 1, __ATOMIC_RELEASE);
    two_cases = 0;
    if (change->flushed != NULL)
        change->flushed(change->data);
    form = change->to;
}

bool
forms_change(form_t to, void (*flushed)(void *), void *data)
{
    change_t change = { to, flushed, data };
    return dr_unlink_flush_all(on_flushed, &change);
}

bool
forms_begin_recorded(void)
{
    if (!forms_change_later())
        return false;
    __atomic_add_fetch(&in_windows, 1, __ATOMIC_SEQ_CST);
    if (form == FORM_RECORDED)
        return true;
    forms_leave_window();
    return false;
}

bool
forms_enter_window_as_is(void)
{
    __atomic_add_fetch(&in_windows, 1, __ATOMIC_SEQ_CST);
    if (!forms_change_later() ||
        (!__atomic_load_n(&changing, __ATOMIC_SEQ_CST) && form != FORM_COUNTED))
        return true;
    forms_leave_window();
    return false;
}

bool
forms_enter_window(void)
{
    /* From here on nobody changes the form to FORM_COUNTED. */
    while (!forms_enter_window_as_is()) {
        if (!forms_begin_change()) {
            dr_thread_yield();
            continue;
        }
        bool made = form != FORM_COUNTED || forms_change(FORM_TWO_CASES, NULL, NULL);
        forms_end_change();
        if (!made)
            return false;
    }
    return true;
}

void
forms_leave_window(void)
{
    __atomic_sub_fetch(&in_windows, 1, __ATOMIC_SEQ_CST);
}

void
forms_gap(uint64 instrs)
{
    if (!forms_change_later() || form != FORM_TWO_CASES || in_windows != 0 ||
        (options.gap_a_block > 0 && instrs / options.gap_a_block <= two_cases) ||
        !forms_begin_change())
        return;
    if (form == FORM_TWO_CASES && __atomic_load_n(&in_windows, __ATOMIC_SEQ_CST) == 0)
        forms_change(FORM_COUNTED, NULL, NULL);
    forms_end_change();
}

void
forms_forked(bool recording)
{
    in_windows = recording ? 1 : 0;
    changing = 0;
}
