/* One thread writes messages and says so by a plain store; the other looks whether they are whole. The
 * last line of each is not full, so that non-temporal stores to it wait in the processor. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS 4093
#define ROOM 4096
#define SLOTS 64

static unsigned long *slots, messages;
static _Atomic unsigned long ready, taken;

__attribute__((noinline)) static void
fill(unsigned long *to, unsigned long message)
{
    for (int i = 0; i < WORDS; i++) {
        to[i] = message;
        __asm__ volatile("" ::: "memory");
    }
}

static void *
writer(void *unused)
{
    for (unsigned long m = 1; m <= messages; m++) {
        while (m > atomic_load_explicit(&taken, memory_order_acquire) + SLOTS - 1)
            __builtin_ia32_pause();
        fill(slots + m % SLOTS * ROOM, m);
        atomic_store_explicit(&ready, m, memory_order_release);
    }
    return unused;
}

int
main(int argc, char **argv)
{
    unsigned long stale = 0;
    pthread_t thread;
    messages = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    slots = aligned_alloc(4096, sizeof(*slots) * ROOM * SLOTS);
    pthread_create(&thread, NULL, writer, NULL);
    for (unsigned long m = 1; m <= messages; m++) {
        while (atomic_load_explicit(&ready, memory_order_acquire) < m)
            __builtin_ia32_pause();
        for (int i = WORDS - 1; i >= 0; i--)
            stale += slots[m % SLOTS * ROOM + (unsigned long)i] != m;
        atomic_store_explicit(&taken, m, memory_order_release);
    }
    pthread_join(thread, NULL);
    printf("%lu messages, %s\n", messages, stale != 0 ? "some stale" : "all whole");
    return stale != 0;
}
