/* An inbox in the spirit of the X9 library: a ring of message slots, handed over by a compare-and-swap each. */
#ifndef RING_INBOX_H
#define RING_INBOX_H

#include "../common/attributes.h"

#include <stdatomic.h>
#include <stdint.h>

#define MESSAGE_WORDS 30

/* 256 bytes; slots are reused, so every message structure is written again and again. */
struct message {
    uint64_t sequence;
    uint64_t sent_ns; /* 0 unless latency is measured */
    uint64_t payload[MESSAGE_WORDS];
};

enum slot_state { SLOT_FREE, SLOT_FULL, SLOT_CLAIMED };

struct slot {
    _Alignas(CACHE_LINE_SIZE) _Atomic uint32_t state;
    _Alignas(CACHE_LINE_SIZE) struct message message;
};

struct inbox {
    struct slot *slots;
    uint64_t count;
    /* Messages that were copied in and out: a line each, as in X9. */
    _Alignas(CACHE_LINE_SIZE) _Atomic uint64_t copied_in;
    _Alignas(CACHE_LINE_SIZE) _Atomic uint64_t copied_out;
};

struct inbox inbox_new(uint64_t slots);

/* Waits until slot `sequence % count` is free and lends it to the producer. */
struct slot *inbox_acquire(struct inbox *inbox, uint64_t sequence);

/* Publishes what the producer wrote into the slot. */
void write_to_inbox(struct slot *slot);

/* The same for a message of the producer's own: claims the slot with a compare-and-swap, copies, counts, publishes. */
void copy_to_inbox(struct inbox *inbox, struct slot *slot, const struct message *message);

/* Copies the message of a full slot out, hands the slot back and counts. */
void copy_from_inbox(struct inbox *inbox, struct slot *slot, struct message *message);

/* Waits until the slot is full. */
struct slot *inbox_await(struct inbox *inbox, uint64_t sequence);

/* Hands the slot back to the producer. */
void free_slot(struct slot *slot);

#endif
