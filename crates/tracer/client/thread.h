/* What the client keeps for a thread: in raw TLS what inlined code needs, the rest behind drmgr. */
#ifndef PRESTORE_THREAD_H
#define PRESTORE_THREAD_H

#include "assemble.h"
#include "channel.h"
#include "dr_api.h"
#include "window.h"

/* Parts of a thread's budget (charge.h). */
#define BUDGETS 8

typedef enum {
    TLS_WRITE,   /* where the next record goes */
    TLS_LIMIT,   /* no record may begin here or behind */
    TLS_COUNTS,  /* scope count: the thread's counters; scope try: its lines, see trial.h */
    TLS_BUDGET,  /* windows: instructions left before the thread reports, less one; the sum of */
    TLS_BUDGET_LAST = TLS_BUDGET + BUDGETS - 1,
    TLS_PHASE,   /* windows: 1: blocks are recorded, 0: only counted */
    TLS_STACK,   /* top of a stack of ours, for one word */
    TLS_BACK,    /* where shared code goes back to */
    TLS_FULL,    /* shared code for blocks whose record does not fit */
    TLS_STORE,   /* shared code behind blocks whose last store's bytes are copied */
    TLS_SPENT,   /* shared code for blocks that are charged more than is left */
    TLS_FLOAT,   /* the program's last floating-point instruction, to one block */
    TLS_STORED,  /* values: stored_t of the last instruction whose bytes are copied behind it */
    TLS_RESULTS, /* scope try: what became of the sites, for all processes */
    TLS_PENDING, /* scope try: which non-temporal stores of ours are perhaps not seen yet (trial_order.h) */
    TLS_FENCES,  /* scope try: fences of ours that were executed */
    TLS_SLOTS,
} tls_slot_t;

typedef struct {
    channel_t channel;
    uint64 *scratch;     /* where an unrecorded thread writes; scope try: its lines */
    byte *base;          /* of its raw TLS segment */
    uint64 stack[2];     /* see TLS_STACK */
    wire_count_t *count; /* scope count */
    bool shares_files;   /* does the process that it is about to make share its descriptors? */
    window_t window;
    bool begun; /* all of this is there */
} thread_t;

bool thread_init(void);
void thread_exit(void);

opnd_t thread_slot(void *drcontext, tls_slot_t slot);
tls_t thread_tls(tls_slot_t slot);
uint64 *thread_slot_of(thread_t *t, tls_slot_t slot);
thread_t *thread_of(void *drcontext);

/* In a forked child, whose session is open again: its one thread gets files of its own. */
void thread_forked(void *drcontext);

/* Called from the code cache when a buffer is full: thread_full_in_block by way of TLS_BACK. */
void thread_full(void);
void thread_full_in_block(void);

/* Appends a special record outside inlined code (allocations, cuts). */
void thread_special(void *drcontext, uint id, uint n, const uint64 *payload);

/* Notes when the thread is about to make a thread or a process. */
void thread_spawns(void *drcontext, int number);

/* Notes the time: what comes behind it happens later. */
void thread_stamp(void *drcontext);

/* Hands over what there is before a system call that may block, if it has waited long, or that may
 * be the last. */
void thread_before_syscall(void *drcontext, int number);

#endif
