/* The client's steps of the protocol (client/ring.h) in one thread and the host's
 * (src/channel/protocol.rs, ring.rs, written down once more) in another, over memory shared as the
 * files are. To be run under a checker of data races.
 *
 * Argument: buffers to hand over. The program says how many arrived, or what was amiss. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "ring.h"

#define SLOTS 3
#define SLOT_WORDS 32

static wire_control_t *control;
static wire_ring_t *ring;
static uint32_t buffers;
static const struct timespec limit = { 24 * 60 * 60, 0 };

/* Words of a buffer: lengths vary, 0 among them. */
static uint32_t
words_of(uint32_t number)
{
    return number * 7 % (SLOT_WORDS + 1);
}

static uint64_t
word_of(uint32_t number, uint32_t i)
{
    return ((uint64_t)number << 32) + i + 1;
}

static void
fail(const char *what, uint32_t number)
{
    printf("%s: buffer %u\n", what, number);
    exit(1);
}

/* A wake-up that is lost shall not be made good by a limit: the test then hangs. */
static int
go_on(void *unused)
{
    (void)unused;
    return 0;
}

static void *
client(void *unused)
{
    for (uint32_t number = 0; number < buffers; number++) {
        if (!ring_has_room(ring))
            ring_wait_for_room(ring, &limit, go_on, NULL);
        uint64_t *slot = ring_slot(ring, ring_filling(ring));
        for (uint32_t i = 0; i < SLOT_WORDS; i++) {
            if (slot[i] != 0)
                fail("given back with words in it", number);
        }
        for (uint32_t i = 0; i < words_of(number); i++)
            slot[i] = word_of(number, i);
        ring_produce(ring, words_of(number));
        doorbell_ring(control);
    }
    ring_end(ring);
    doorbell_ring(control);
    return unused;
}

static uint32_t
pending(void)
{
    return __atomic_load_n(&ring->produced, __ATOMIC_ACQUIRE) -
           __atomic_load_n(&ring->consumed, __ATOMIC_RELAXED);
}

/* Reads the oldest buffer and gives it back. */
static void
take(uint32_t expected)
{
    uint32_t number = __atomic_load_n(&ring->consumed, __ATOMIC_RELAXED);
    uint32_t used = __atomic_load_n(&ring->used[number % SLOTS], __ATOMIC_RELAXED);
    uint64_t *slot = ring_slot(ring, number);
    if (number != expected || used != words_of(number))
        fail("not the expected buffer", number);
    for (uint32_t i = 0; i < used; i++) {
        if (slot[i] != word_of(number, i))
            fail("wrong words", number);
        slot[i] = 0;
    }
    __atomic_store_n(&ring->consumed, number + 1, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&ring->waiting, __ATOMIC_RELAXED) != 0)
        futex_wake(&ring->consumed);
}

static void
sleep_on_doorbell(uint32_t heard)
{
    __atomic_store_n(&control->asleep, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&control->doorbell, __ATOMIC_RELAXED) == heard)
        futex_wait(&control->doorbell, heard, &limit);
    __atomic_store_n(&control->asleep, 0, __ATOMIC_RELAXED);
}

static void
host(void)
{
    uint32_t taken = 0;
    for (;;) {
        uint32_t heard = __atomic_load_n(&control->doorbell, __ATOMIC_ACQUIRE);
        uint32_t before = taken;
        while (pending() > 0)
            take(taken++);
        if (taken != before)
            continue;
        if (__atomic_load_n(&ring->ended, __ATOMIC_ACQUIRE) != 0 && pending() == 0)
            break;
        sleep_on_doorbell(heard);
    }
    if (taken != buffers)
        fail("the last one taken", taken);
}

static void *
shared(size_t bytes)
{
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    return map;
}

int
main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    buffers = (uint32_t)atoi(argv[1]);
    control = shared(sizeof(*control));
    ring = shared(RING_HEADER_BYTES + SLOTS * SLOT_WORDS * sizeof(uint64_t));
    ring->slots = SLOTS;
    ring->slot_words = SLOT_WORDS;
    pthread_t thread;
    if (pthread_create(&thread, NULL, client, NULL) != 0)
        return 2;
    host();
    pthread_join(thread, NULL);
    printf("%u buffers arrived\n", buffers);
    return 0;
}
