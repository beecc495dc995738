#include "trial.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "access.h"
#include "drmgr.h"
#include "options.h"
#include "regs.h"
#include "trial_emit.h"
#include "trial_order.h"
#include "trial_sites.h"
#include "trial_store.h"
#include "trial_streak.h"

typedef struct {
    regs_t *regs;
    order_t pending;
    streaks_t flushed;
} block_t;

static uint64 cpu_at_begin;

static uint64
now(clockid_t clock)
{
    struct timespec t = { 0, 0 };
    syscall(SYS_clock_gettime, clock, &t);
    return (uint64)t.tv_sec * 1000000000 + (uint64)t.tv_nsec;
}

static void
process_begins(void)
{
    uint64 none = 0;
    cpu_at_begin = now(CLOCK_PROCESS_CPUTIME_ID);
    __atomic_fetch_add(&trial_sums()->begins, 1, __ATOMIC_RELAXED);
    __atomic_compare_exchange_n(&trial_sums()->begun, &none, now(CLOCK_MONOTONIC), false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void
process_ends(void)
{
    trial_sums_t *sums = trial_sums();
    uint64 end = now(CLOCK_MONOTONIC), last = __atomic_load_n(&sums->ended, __ATOMIC_RELAXED);
    while (last < end && !__atomic_compare_exchange_n(&sums->ended, &last, end, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    __atomic_fetch_add(&sums->cpu, now(CLOCK_PROCESS_CPUTIME_ID) - cpu_at_begin,
                       __ATOMIC_RELAXED);
    __atomic_fetch_add(&sums->ends, 1, __ATOMIC_RELAXED);
}

static size_t
area_bytes(void)
{
    return (trial_lines() + 8) * sizeof(uint64);
}

void
trial_thread_init(thread_t *t)
{
    t->scratch = dr_raw_mem_alloc(area_bytes(), DR_MEMPROT_READ | DR_MEMPROT_WRITE, NULL);
    if (t->scratch == NULL) {
        dr_fprintf(STDERR, "prestore: no memory for a thread's lines\n");
        dr_abort();
    }
    /* Each store was last in a line of ours, which nothing else is in. */
    for (uint i = 0; i < trial_lines(); i++)
        t->scratch[i] = trial_line_kept(t->scratch);
    *thread_slot_of(t, TLS_COUNTS) = (uint64)t->scratch;
    *thread_slot_of(t, TLS_RESULTS) = (uint64)trial_site_results();
    *thread_slot_of(t, TLS_PENDING) = 0;
    *thread_slot_of(t, TLS_FENCES) = 0;
}

void
trial_thread_exit(thread_t *t, bool ours)
{
    if (ours)
        __atomic_fetch_add(&trial_sums()->fences, *thread_slot_of(t, TLS_FENCES),
                           __ATOMIC_RELAXED);
    dr_raw_mem_free(t->scratch, area_bytes());
    t->scratch = NULL;
}

void
trial_forked(void)
{
    process_begins();
    *thread_slot_of(thread_of(dr_get_current_drcontext()), TLS_FENCES) = 0;
}

void
trial_before_syscall(void *drcontext, int number)
{
    trial_order_before_syscall(drcontext, number);
}

bool
trial_flush_faulted(void *drcontext, dr_siginfo_t *info)
{
    if ((info->sig != SIGSEGV && info->sig != SIGBUS) || !info->raw_mcontext_valid ||
        info->raw_mcontext == NULL)
        return false;
    const trial_site_t *site = trial_site_at(info->mcontext->pc);
    if (site == NULL || (site->op != TRIAL_CLEAN && site->op != TRIAL_DEMOTE))
        return false;
    instr_t instr;
    instr_init(drcontext, &instr);
    byte *behind = decode(drcontext, info->raw_mcontext->pc, &instr);
    bool ours = behind != NULL && access_of(&instr).shape == SHAPE_FLUSH;
    instr_free(drcontext, &instr);
    if (ours)
        info->raw_mcontext->pc = behind;
    return ours;
}

/* A store of a general register becomes another instruction of the program, at the same place. */
static dr_emit_flags_t
on_replace(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating)
{
    instr_t *next;
    for (instr_t *i = instrlist_first_app(bb); i != NULL; i = next) {
        next = instr_get_next_app(i);
        const trial_site_t *site = is_program_instr(i) ? trial_site_at(instr_get_app_pc(i)) : NULL;
        if (site == NULL || site->op != TRIAL_SKIP)
            continue;
        store_t store = trial_skipped(i);
        trial_site_note(site, store.fate);
        if (store.fate != SITE_CHANGED || store.form != FORM_GENERAL)
            continue;
        instr_t *skipped = INSTR_CREATE_movnti(drcontext, store.mem, store.src);
        instrlist_replace(bb, i, INSTR_XL8(skipped, instr_get_app_pc(i)));
        instr_destroy(drcontext, i);
    }
    return DR_EMIT_DEFAULT;
}

static dr_emit_flags_t
on_analyze(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating,
           void **user_data)
{
    block_t *block = dr_thread_alloc(drcontext, sizeof(*block));
    block->regs = regs_begin(drcontext, bb);
    block->pending = ORDER_UNKNOWN;
    block->flushed.n = 0;
    *user_data = block;
    /* What a block is made of depends on when: it must not be made again to translate a fault in it. */
    return DR_EMIT_STORE_TRANSLATIONS;
}

static void
change(at_t *at, block_t *block, const trial_site_t *site)
{
    instr_t *instr = at->where;
    bool replaced = instr_get_opcode(instr) == OP_movnti;
    if (site->op == TRIAL_SKIP) {
        store_t store = trial_skipped(instr);
        bool changed = store.fate == SITE_CHANGED;
        trial_order(at, block->regs, &block->pending,
                    changed || replaced ? site->group : 0);
        if (changed)
            trial_emit_skip(at, block->regs, site, &store);
        return;
    }
    trial_order(at, block->regs, &block->pending, 0);
    if (site->op == TRIAL_NOTHING)
        return;
    store_t store = trial_flushed(instr);
    if (store.fate == SITE_CHANGED && !trial_can_flush(site->op))
        store.fate = SITE_NO_INSTRUCTION;
    trial_site_note(site, store.fate);
    if (store.fate == SITE_CHANGED && !streaks_follow(&block->flushed, store.mem))
        trial_emit_flush(at, block->regs, site, &store);
}

static dr_emit_flags_t
on_insert(void *drcontext, void *tag, instrlist_t *bb, instr_t *instr, bool for_trace,
          bool translating, void *user_data)
{
    block_t *block = user_data;
    drmgr_disable_auto_predication(drcontext, bb);
    bool last = drmgr_is_last_instr(drcontext, instr);
    if (is_program_instr(instr)) {
        const trial_site_t *site = trial_site_at(instr_get_app_pc(instr));
        at_t at;
        at_begin(&at, drcontext, bb, instr);
        if (site != NULL)
            change(&at, block, site);
        else
            trial_order(&at, block->regs, &block->pending, 0);
        regs_next(&at, block->regs);
        at_flush(&at);
        streaks_behind(&block->flushed, instr);
    }
    if (last) {
        regs_end(drcontext, block->regs);
        dr_thread_free(drcontext, block, sizeof(*block));
    }
    return DR_EMIT_DEFAULT;
}

bool
trial_init(void)
{
    trial_emit_init();
    if (!trial_sites_init())
        return false;
    process_begins();
    return drmgr_register_bb_app2app_event(on_replace, NULL) &&
           drmgr_register_bb_instrumentation_event(on_analyze, on_insert, NULL);
}

void
trial_exit(void)
{
    process_ends();
    trial_sites_exit();
}
