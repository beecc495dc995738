/*
 * Quiescent states: when is memory that was unlinked no longer in any reader's hands?
 *
 * A thread announces, every few operations, that it holds no pointer into the store (a sequentially consistent store, so
 * its next loads come after). A writer that unlinks something takes a snapshot of the announcements; once every other
 * thread has announced anew, nobody can still read it. Gets themselves stay free of fences.
 */
#ifndef KV_QUIESCENCE_H
#define KV_QUIESCENCE_H

#include "../common/attributes.h"
#include "../common/team.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct quiescence {
    uint64_t threads;
    struct {
        _Alignas(CACHE_LINE_SIZE) _Atomic uint64_t count;
    } announced[TEAM_MAX_THREADS];
};

/* This thread holds no pointer into the store now. */
static inline void quiescence_announce(struct quiescence *q, uint64_t thread)
{
    uint64_t count = atomic_load_explicit(&q->announced[thread].count, memory_order_relaxed);
    atomic_store_explicit(&q->announced[thread].count, count + 1, memory_order_seq_cst);
}

/* This thread holds none until it announces with `quiescence_return`, or never again. */
static inline void quiescence_leave(struct quiescence *q, uint64_t thread)
{
    atomic_store_explicit(&q->announced[thread].count, UINT64_MAX, memory_order_seq_cst);
}

/* What quiescence_return wants to know of the time before quiescence_leave. */
static inline uint64_t quiescence_count(struct quiescence *q, uint64_t thread)
{
    return atomic_load_explicit(&q->announced[thread].count, memory_order_relaxed);
}

/* This thread may hold pointers again, as before `quiescence_leave` when it had announced `count` times. */
static inline void quiescence_return(struct quiescence *q, uint64_t thread, uint64_t count)
{
    atomic_store_explicit(&q->announced[thread].count, count + 1, memory_order_seq_cst);
}

/* Copies the announcements of all threads to `snapshot`. */
static inline void quiescence_snapshot(struct quiescence *q, uint64_t *snapshot)
{
    for (uint64_t t = 0; t < q->threads; t++)
        snapshot[t] = atomic_load_explicit(&q->announced[t].count, memory_order_seq_cst);
}

/* Has every thread but `self` announced since, or left? */
static inline bool quiescence_passed(struct quiescence *q, const uint64_t *snapshot, uint64_t self)
{
    for (uint64_t t = 0; t < q->threads; t++) {
        uint64_t now = atomic_load_explicit(&q->announced[t].count, memory_order_seq_cst);
        if (t != self && now != UINT64_MAX && now == snapshot[t])
            return false;
    }
    return true;
}

#endif
