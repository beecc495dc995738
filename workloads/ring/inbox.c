#include "inbox.h"

#include "../common/back_off.h"
#include "../common/memory.h"

#include <stdio.h>
#include <stdlib.h>

struct inbox inbox_new(uint64_t slots)
{
    return (struct inbox){ .slots = memory_fresh(slots * sizeof(struct slot)), .count = slots };
}

static struct slot *await(struct inbox *inbox, uint64_t sequence, uint32_t wanted)
{
    struct slot *slot = &inbox->slots[sequence % inbox->count];

    for (unsigned attempt = 0; atomic_load_explicit(&slot->state, memory_order_acquire) != wanted; attempt++)
        back_off(attempt);
    return slot;
}

struct slot *inbox_acquire(struct inbox *inbox, uint64_t sequence)
{
    return await(inbox, sequence, SLOT_FREE);
}

struct slot *inbox_await(struct inbox *inbox, uint64_t sequence)
{
    return await(inbox, sequence, SLOT_FULL);
}

static void swap_state(struct slot *slot, uint32_t from, uint32_t to)
{
    if (!atomic_compare_exchange_strong(&slot->state, &from, to)) {
        fprintf(stderr, "ring: a slot changed hands twice\n");
        exit(1);
    }
}

NOINLINE void write_to_inbox(struct slot *slot)
{
    swap_state(slot, SLOT_FREE, SLOT_FULL);
}

NOINLINE void copy_to_inbox(struct inbox *inbox, struct slot *slot, const struct message *message)
{
    swap_state(slot, SLOT_FREE, SLOT_CLAIMED);
    slot->message = *message;
    atomic_fetch_add(&inbox->copied_in, 1);
    swap_state(slot, SLOT_CLAIMED, SLOT_FULL);
}

NOINLINE void copy_from_inbox(struct inbox *inbox, struct slot *slot, struct message *message)
{
    *message = slot->message;
    free_slot(slot);
    atomic_fetch_add(&inbox->copied_out, 1);
}

NOINLINE void free_slot(struct slot *slot)
{
    swap_state(slot, SLOT_FULL, SLOT_FREE);
}
