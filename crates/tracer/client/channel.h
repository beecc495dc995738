/* The way of a thread's records out of the traced program: a ring of buffers that the host reads. */
#ifndef PRESTORE_CHANNEL_H
#define PRESTORE_CHANNEL_H

#include "dr_api.h"
#include "wire.h"

/* Words that a buffer keeps free behind its limit: the largest record and a few specials fit. */
#define RED_ZONE_WORDS 2560

typedef struct {
    wire_ring_t *ring; /* NULL: not recording (untraced, or no memory) */
    size_t bytes;
    uint64 *slot;      /* the buffer being filled */
    uint64 begun;      /* its time stamp */
    uint64 handed_over; /* words in buffers before it */
    bool waits;        /* the buffer is handed over, and no other one begun */
    bool private;      /* recording is over: its buffers are not those of the ring any more */
    char path[MAXIMUM_PATH];
} channel_t;

/* A thread's ring: first pointer to write at, or NULL. */
uint64 *channel_open(channel_t *c, thread_id_t tid);
/* Hands over the words up to `end` and returns where to go on. */
uint64 *channel_hand_over(void *drcontext, channel_t *c, uint64 *end);
/* Waits until the host has looked at all that was handed over; false when recording is over instead. */
bool channel_wait_taken(void *drcontext, channel_t *c);
/* The first word that must not be begun at. */
uint64 *channel_limit(channel_t *c);
/* Hands over the rest, up to `end` (NULL: nothing was begun); the thread is done. */
void channel_close(channel_t *c, uint64 *end);
/* Forgets it without handing anything over (in a forked child). */
void channel_drop(channel_t *c);

#endif
