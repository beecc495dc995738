/* The client's side of what it shares with the host without locks: a thread's ring and the
 * session's doorbell. The host's side of the same steps is src/channel/protocol.rs.
 *
 * Nothing of the engine is needed here, so that the tests can run these very steps under a checker
 * of data races (tests/ring_tsan.c) and, written down once more, in all interleavings
 * (crates/ring-model).
 *
 * Two rules carry the rest. What one side tells by a count (`produced`, `consumed`, `ended`) it
 * stores with release and the other loads with acquire. And whoever says "I sleep" looks once more
 * for what it waits for, with a full fence between; whoever gives work looks for sleepers behind a
 * full fence: at least one of the two sees the other.
 *
 * Truth values are int, since the engine has a bool of its own. */
#ifndef PRESTORE_RING_H
#define PRESTORE_RING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "wire.h"

/* linux/futex.h without its dependencies; shared between processes */
enum { FUTEX_WAIT_OP = 0, FUTEX_WAKE_OP = 1 };

static inline void
futex_wait(volatile uint32_t *word, uint32_t seen, const struct timespec *limit)
{
    /* Woken, changed before, timed out, interrupted: the caller looks again in any case. */
    syscall(SYS_futex, word, FUTEX_WAIT_OP, seen, limit, NULL, 0);
}

static inline void
futex_wake(volatile uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_OP, 1, NULL, NULL, 0);
}

/* Tells the host that there is something new, which must have been stored before. */
static inline void
doorbell_ring(wire_control_t *control)
{
    __atomic_add_fetch(&control->doorbell, 1, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&control->asleep, __ATOMIC_RELAXED) != 0)
        futex_wake(&control->doorbell);
}

/* The number of the buffer being filled. */
static inline uint32_t
ring_filling(const wire_ring_t *ring)
{
    /* Nobody else changes it. */
    return __atomic_load_n(&ring->produced, __ATOMIC_RELAXED);
}

/* Where the words of buffer `number` are. It may be written once ring_has_room says so. */
static inline uint64_t *
ring_slot(wire_ring_t *ring, uint32_t number)
{
    uint64_t *first = (uint64_t *)((char *)ring + RING_HEADER_BYTES);
    return first + (size_t)(number % ring->slots) * ring->slot_words;
}

/* Hands over the buffer being filled, with its first `words`. The caller rings the doorbell. */
static inline void
ring_produce(wire_ring_t *ring, uint32_t words)
{
    uint32_t number = ring_filling(ring);
    __atomic_store_n(&ring->used[number % ring->slots], words, __ATOMIC_RELAXED);
    __atomic_store_n(&ring->produced, number + 1, __ATOMIC_RELEASE);
}

/* Says that nothing more will be handed over. The caller rings the doorbell. */
static inline void
ring_end(wire_ring_t *ring)
{
    __atomic_store_n(&ring->ended, 1, __ATOMIC_RELEASE);
}

/* How many buffers that were handed over have not come back. */
static inline uint32_t
ring_untaken(const wire_ring_t *ring)
{
    return ring_filling(ring) - __atomic_load_n(&ring->consumed, __ATOMIC_ACQUIRE);
}

/* Is the next buffer free? */
static inline int
ring_has_room(const wire_ring_t *ring)
{
    return ring_untaken(ring) < ring->slots;
}

/* Waits until at most `most` buffers are untaken. False: they are more, and `give_up` has said that
 * it may stay so. That is asked every `patience`, since neither an end of the session nor a killed
 * host wakes; a buffer given back does. */
static inline int
ring_wait(wire_ring_t *ring, uint32_t most, const struct timespec *patience,
          int (*give_up)(void *), void *context)
{
    int done;
    for (;;) {
        __atomic_store_n(&ring->waiting, 1, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        uint32_t consumed = __atomic_load_n(&ring->consumed, __ATOMIC_ACQUIRE);
        done = ring_filling(ring) - consumed <= most;
        if (done)
            break;
        futex_wait(&ring->consumed, consumed, patience);
        done = ring_untaken(ring) <= most;
        if (done || give_up(context))
            break;
    }
    __atomic_store_n(&ring->waiting, 0, __ATOMIC_RELAXED);
    return done;
}

/* The same until the next buffer is free. */
static inline int
ring_wait_for_room(wire_ring_t *ring, const struct timespec *patience, int (*give_up)(void *),
                   void *context)
{
    return ring_wait(ring, ring->slots - 1, patience, give_up, context);
}

#endif
