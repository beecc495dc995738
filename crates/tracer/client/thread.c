#include "thread.h"

#include <linux/sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "charge.h"
#include "count.h"
#include "drmgr.h"
#include "emit.h"
#include "images.h"
#include "leave.h"
#include "options.h"
#include "peek.h"
#include "second_case.h"
#include "session.h"
#include "trial.h"

static reg_id_t tls_register;
static uint tls_offset;
static int tls_index;

/* A buffer that waited so long (time-stamp ticks, some milliseconds) is handed over before a
 * system call, so that a blocked thread's events reach the host. */
#define OLD_TICKS (10 * 1000 * 1000)

/* As much as a slot's end needs, twice: to its limit, and behind it. */
#define SCRATCH_BYTES (2 * RED_ZONE_WORDS * sizeof(uint64))

thread_t *
thread_of(void *drcontext)
{
    return drmgr_get_tls_field(drcontext, tls_index);
}

opnd_t
thread_slot(void *drcontext, tls_slot_t slot)
{
    return dr_raw_tls_opnd(drcontext, tls_register, tls_offset + (uint)slot * sizeof(void *));
}

tls_t
thread_tls(tls_slot_t slot)
{
    return (tls_t){ tls_register, (int)(tls_offset + (uint)slot * sizeof(void *)) };
}

uint64 *
thread_slot_of(thread_t *t, tls_slot_t slot)
{
    return (uint64 *)(t->base + tls_offset + (uint)slot * sizeof(void *));
}

static void
aim(void *drcontext, thread_t *t, uint64 *at)
{
    if (at == NULL) {
        /* Not recorded: inlined code writes into memory of its own, over and over. It is the engine's, which says what there is
         * too little of: perhaps nothing can be mapped any more, and that is why. */
        if (t->scratch == NULL)
            t->scratch = dr_thread_alloc(drcontext, SCRATCH_BYTES);
        *thread_slot_of(t, TLS_WRITE) = (uint64)t->scratch;
        *thread_slot_of(t, TLS_LIMIT) = (uint64)(t->scratch + RED_ZONE_WORDS);
        return;
    }
    *thread_slot_of(t, TLS_WRITE) = (uint64)at;
    *thread_slot_of(t, TLS_LIMIT) = (uint64)channel_limit(&t->channel);
}

static void
open_files(void *drcontext, thread_t *t)
{
    if (options.scope == SCOPE_TRY)
        trial_thread_init(t);
    else if (options.scope == SCOPE_COUNT)
        count_thread_init(drcontext, t);
    else
        aim(drcontext, t, channel_open(&t->channel, dr_get_thread_id(drcontext)));
}

static wire_tally_t *
tally_of(thread_t *t)
{
    if (t->count != NULL)
        return &t->count->tally;
    return t->channel.ring == NULL ? NULL : &t->channel.ring->tally;
}

static void
on_thread_init(void *drcontext)
{
    thread_t *t = dr_thread_alloc(drcontext, sizeof(*t));
    memset(t, 0, sizeof(*t));
    t->base = dr_get_dr_segment_base(tls_register);
    *thread_slot_of(t, TLS_STACK) = (uint64)(t->stack + 2);
    drmgr_set_tls_field(drcontext, tls_index, t);
    emit_thread_init(t);
    charge_thread_init(t);
    open_files(drcontext, t);
    window_thread_init(drcontext, tally_of(t));
    t->begun = true;
}

/* In a forked child the engine first lets all other threads exit that the parent had. They live on
 * there, and write to the files that they share with this copy of them. */
static bool
lives_in_parent(void *drcontext)
{
    return drcontext != dr_get_current_drcontext() &&
           (process_id_t)syscall(SYS_getpid) != session_pid();
}

static void
on_thread_exit(void *drcontext)
{
    thread_t *t = thread_of(drcontext);
    /* Of a process that shared this one's memory and was killed as it began. */
    if (t == NULL)
        return;
    if (options.scope == SCOPE_TRY) {
        trial_thread_exit(t, !lives_in_parent(drcontext));
    } else if (lives_in_parent(drcontext)) {
        channel_drop(&t->channel);
        count_thread_drop(t);
        window_thread_drop(drcontext);
    } else if (!t->begun) {
        channel_close(&t->channel, NULL);
    } else {
        window_thread_exit(drcontext);
        if (options.scope == SCOPE_COUNT)
            count_thread_exit(t);
        else
            channel_close(&t->channel, (uint64 *)*thread_slot_of(t, TLS_WRITE));
    }
    if (t->scratch != NULL)
        dr_thread_free(drcontext, t->scratch, SCRATCH_BYTES);
    dr_thread_free(drcontext, t, sizeof(*t));
}

void
thread_forked(void *drcontext)
{
    thread_t *t = thread_of(drcontext);
    if (options.scope == SCOPE_TRY)
        return;
    channel_drop(&t->channel);
    count_thread_drop(t);
    open_files(drcontext, t);
    window_thread_fork(drcontext, tally_of(t));
    if (options.values)
        images_process(drcontext);
}

void
thread_full(void)
{
    void *drcontext = dr_get_current_drcontext();
    thread_t *t = thread_of(drcontext);
    uint64 *end = (uint64 *)*thread_slot_of(t, TLS_WRITE);
    if (t->channel.ring == NULL)
        aim(drcontext, t, NULL);
    else
        aim(drcontext, t, channel_hand_over(drcontext, &t->channel, end));
}

void
thread_full_in_block(void)
{
    thread_full();
    second_case_look(dr_get_current_drcontext());
    leave_for_signal(dr_get_current_drcontext());
}

void
thread_special(void *drcontext, uint id, uint n, const uint64 *payload)
{
    thread_t *t = thread_of(drcontext);
    if (t == NULL || !options_record() || t->channel.ring == NULL)
        return;
    if (id != REC_CUT)
        window_close_gap(drcontext);
    else if (!window_records(drcontext))
        return;
    uint64 *at = (uint64 *)*thread_slot_of(t, TLS_WRITE);
    /* A cut belongs into the buffer of what it cuts: the red zone has room for it. */
    if (id != REC_CUT && at >= (uint64 *)*thread_slot_of(t, TLS_LIMIT)) {
        thread_full();
        at = (uint64 *)*thread_slot_of(t, TLS_WRITE);
    }
    at[0] = REC_HEADER(id, n);
    memcpy(at + 1, payload, n * sizeof(uint64));
    *thread_slot_of(t, TLS_WRITE) = (uint64)(at + 1 + n);
}

/* The flags of the call are those of clone, which clone3 has in memory. */
static bool
shares_files(void *drcontext, int number)
{
    uint64 flags = 0;
    if (number == SYS_clone)
        flags = dr_syscall_get_param(drcontext, 0);
    else if (number == SYS_clone3)
        peek((const void *)dr_syscall_get_param(drcontext, 0), &flags, sizeof(flags));
    return (flags & CLONE_FILES) != 0;
}

void
thread_spawns(void *drcontext, int number)
{
    thread_of(drcontext)->shares_files = shares_files(drcontext, number);
    uint64 now = __builtin_ia32_rdtsc();
    thread_special(drcontext, REC_SPAWN, 1, &now);
}

void
thread_stamp(void *drcontext)
{
    /* As behind an atomic that emits it: not ahead of what it waits for. */
    __builtin_ia32_lfence();
    uint64 now = __builtin_ia32_rdtsc();
    thread_special(drcontext, REC_STAMP, 1, &now);
}

void
thread_before_syscall(void *drcontext, int number)
{
    thread_t *t = thread_of(drcontext);
    if (!options_record() || t->channel.ring == NULL || session_stopped())
        return;
    uint64 *at = (uint64 *)*thread_slot_of(t, TLS_WRITE);
    /* Behind a successful execve nobody could hand it over. */
    bool last_chance = number == SYS_execve || number == SYS_execveat;
    bool old = __builtin_ia32_rdtsc() - t->channel.begun > OLD_TICKS;
    if (at - t->channel.slot > 2 && (last_chance || old))
        thread_full();
}

bool
thread_init(void)
{
    tls_index = drmgr_register_tls_field();
    return tls_index >= 0 && dr_raw_tls_calloc(&tls_register, &tls_offset, TLS_SLOTS, 0) &&
           drmgr_register_thread_init_event(on_thread_init) &&
           drmgr_register_thread_exit_event(on_thread_exit);
}

void
thread_exit(void)
{
    dr_raw_tls_cfree(tls_offset, TLS_SLOTS);
    drmgr_unregister_tls_field(tls_index);
}
