/* Windows and source regions: when a thread records, and the count of what it does not record. */
#ifndef PRESTORE_WINDOW_H
#define PRESTORE_WINDOW_H

#include "dr_api.h"
#include "wire.h"

/* A thread's position. Its phase (TLS_PHASE) changes only in calls that the thread itself makes,
 * between which every executed block has taken its instructions from TLS_BUDGET. */
typedef struct {
    bool in_window;      /* by the instructions granted last */
    uint depth;          /* of the regions asked for that it is in */
    int64 left;          /* of the grant when last looked at; below 0: overdrawn */
    uint64 gap;          /* instructions not recorded since the last record */
    uint64 number;       /* of the window, with bursts; told_number: of the last record of it */
    uint64 told_number;
    int64 flipped_at;    /* the budget when the phase changed at a block's head */
    bool before_flip;    /* the phase of that block */
    bool joined;         /* executes blocks with two cases, which are charged */
    uint64 counted;      /* until then: its instructions that window_begin was told of, or NEVER */
    wire_tally_t *tally; /* where the host looks; NULL: not recording */
} window_t;

/* Called from the code cache: the thread's budget is spent; it begins or has ended a region. */
void window_spent(void);
void window_enter(void);
void window_leave(void);

/* Where blocks get their second case while the process runs: threads come to the windows one by one,
 * when so many instructions were executed. */
void window_begin(uint64 executed);

/* In thread.c's life cycle; nothing happens without windows and regions. */
void window_thread_init(void *drcontext, wire_tally_t *tally);
void window_thread_exit(void *drcontext);
/* The thread of another process that lives in this one's memory ends. */
void window_thread_drop(void *drcontext);
void window_thread_fork(void *drcontext, wire_tally_t *tally);

/* Is the block that the thread executes being recorded? True without windows and regions. */
bool window_records(void *drcontext);

/* A block may be begun anew before any of it was executed: what it was charged is given back. Not
 * where the phase has changed at its head. */
bool window_may_refund(void *drcontext);
void window_refund(void *drcontext, uint instrs);

/* Before a special record: brings the thread's instruction count up to here. */
void window_close_gap(void *drcontext);

#endif
