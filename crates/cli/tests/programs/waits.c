/* Threads that wait for each other in the way that the first argument names. Work is instructions alone, so that its
 * simulated time is known: `work(n)` takes n times as long as `work(1)`. Sleeping takes no simulated time. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "waits_locks.h"

#define THREADS 4
#define ROUNDS 3
#define UNIT 50000

__attribute__((noipa)) static void
work(long units)
{
    unsigned long x = (unsigned long)units;
    for (long i = 0; i < units * UNIT; i += 16) {
#pragma GCC unroll 16
        for (int j = 0; j < 16; j++)
            __asm__ volatile("add $3, %0" : "+r"(x));
    }
}

static void
doze(long milliseconds)
{
    struct timespec time = { 0, milliseconds * 1000000 };
    while (nanosleep(&time, &time) != 0 && errno == EINTR) {
    }
}

/* Each thread of a team waits until all of it are made: on a busy machine the first one might have ended by then. */
static pthread_barrier_t all_made;

/* Who has the lock sleeps for as long as others need to come to it: so readers
 * meet, and others find it taken. */
static void *
sections(void *of)
{
    (void)of;
    pthread_barrier_wait(&all_made);
    for (int round = 0; round < ROUNDS; round++) {
        lock->take();
        work(5);
        doze(2);
        work(5);
        lock->give();
    }
    return NULL;
}

/* All read at first, and meet; then two read and two write. */
static void *
reader_or_writer(void *of)
{
    static const struct lock read = { "", take_read, give_rw }, write = { "", take_write, give_rw };
    pthread_barrier_wait(&all_made);
    for (int round = 0; round < ROUNDS; round++) {
        const struct lock *mine = round == 0 || (long)of % 2 == 0 ? &read : &write;
        mine->take();
        work(5);
        doze(round == 0 ? 50 : 2);
        work(5);
        mine->give();
        doze(50);
    }
    return NULL;
}

/* The first thread works long and has the lock first in the recording, as the others sleep long. They meet at it. */
static void *
late(void *of)
{
    long self = (long)of;
    pthread_barrier_wait(&all_made);
    if (self == 0)
        work(20);
    else
        doze(150);
    lock->take();
    work(5);
    doze(10);
    work(5);
    lock->give();
    work(1);
    lock->take();
    work(1);
    lock->give();
    return NULL;
}

static void
team(void *(*what)(void *))
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, what, (void *)i);
    for (long i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Barriers: in round r, the thread with (i + r) % THREADS units of ten is the last. */

static pthread_barrier_t barrier;
static struct {
    atomic_int left APART;
    atomic_int sense APART;
} reversing = { THREADS, 0 };

static void meet_none(void) {}
static void meet_pthread(void) { pthread_barrier_wait(&barrier); }

static void
meet_reversing(void)
{
    int sense = atomic_load(&reversing.sense);
    if (atomic_fetch_sub(&reversing.left, 1) == 1) {
        atomic_store_explicit(&reversing.left, THREADS, memory_order_relaxed);
        atomic_store_explicit(&reversing.sense, !sense, memory_order_release);
    } else {
        while (atomic_load_explicit(&reversing.sense, memory_order_acquire) == sense)
            pause_cpu();
    }
}

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t all;
    int left, round;
} condition_barrier APART = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, THREADS, 0 };

static void
meet_condition(void)
{
    pthread_mutex_lock(&condition_barrier.mutex);
    int round = condition_barrier.round;
    if (--condition_barrier.left == 0) {
        condition_barrier.left = THREADS;
        condition_barrier.round++;
        pthread_cond_broadcast(&condition_barrier.all);
    } else {
        while (condition_barrier.round == round)
            pthread_cond_wait(&condition_barrier.all, &condition_barrier.mutex);
    }
    pthread_mutex_unlock(&condition_barrier.mutex);
}

static void (*meet)(void);

static void *
meetings(void *of)
{
    pthread_barrier_wait(&all_made);
    for (long round = 0; round < THREADS; round++) {
        work(10 * (1 + ((long)of + round) % THREADS));
        meet();
    }
    return NULL;
}

/* One thread waits for another one. */

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *
waits(void *of)
{
    (void)of;
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    work(40);
    return NULL;
}

static void
broadcast(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, waits, (void *)i);
    doze(100);
    work(40);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    for (long i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void *
works(void *of)
{
    pthread_barrier_wait(&all_made);
    work((long)of);
    return NULL;
}

static void
join(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, works, (void *)40L);
    pthread_create(&threads[1], NULL, works, (void *)20L);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    work(40);
}

/* A ring of plain loads and stores. */

#define SLOTS 4
#define MESSAGES 20
static long slots[SLOTS] APART;
static atomic_ulong head APART, tail APART;

static void *
consume(void *of)
{
    (void)of;
    for (unsigned long n = 0; n < MESSAGES; n++) {
        while (atomic_load_explicit(&head, memory_order_acquire) == n)
            pause_cpu();
        work(slots[n % SLOTS]);
        atomic_store_explicit(&tail, n + 1, memory_order_release);
    }
    return NULL;
}

static void
ring(void)
{
    pthread_t consumer;
    pthread_create(&consumer, NULL, consume, NULL);
    for (unsigned long n = 0; n < MESSAGES; n++) {
        while (n - atomic_load_explicit(&tail, memory_order_acquire) == SLOTS)
            pause_cpu();
        work(10);
        doze(1);
        slots[n % SLOTS] = 1;
        atomic_store_explicit(&head, n + 1, memory_order_release);
    }
    pthread_join(consumer, NULL);
}

#ifdef _OPENMP
static void
omp_critical(void)
{
#pragma omp parallel num_threads(THREADS)
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp critical
        {
            work(5);
            doze(2);
            work(5);
        }
    }
}

static void
omp_barrier(void)
{
#pragma omp parallel num_threads(THREADS)
    for (int round = 0; round < THREADS; round++) {
        work(10 * (1 + (omp_get_thread_num() + round) % THREADS));
#pragma omp barrier
    }
}

/* The end of a parallel part is a barrier, too. */
static void
omp_parts(void)
{
    for (int round = 0; round < THREADS; round++) {
#pragma omp parallel num_threads(THREADS)
        work(10 * (1 + (omp_get_thread_num() + round) % THREADS));
    }
}
#endif

int
main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const char *how = argc > 2 ? argv[2] : "";
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_barrier_init(&barrier, NULL, THREADS);
    pthread_barrier_init(&all_made, NULL, strcmp(what, "join") == 0 ? 2 : THREADS);
#ifdef _OPENMP
    omp_init_lock(&omp_lock);
#endif
    for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
        if (strcmp(how, locks[i].name) == 0)
            lock = &locks[i];
    }
    meet = strcmp(how, "pthread") == 0 ? meet_pthread
        : strcmp(how, "reversing") == 0 ? meet_reversing
        : strcmp(how, "condition") == 0 ? meet_condition
                                        : meet_none;
    if (strcmp(what, "sections") == 0 && strcmp(how, "both") == 0)
        team(reader_or_writer);
    else if (strcmp(what, "sections") == 0)
        team(sections);
    else if (strcmp(what, "late") == 0)
        team(late);
    else if (strcmp(what, "meetings") == 0)
        team(meetings);
    else if (strcmp(what, "broadcast") == 0)
        broadcast();
    else if (strcmp(what, "join") == 0)
        join();
    else if (strcmp(what, "ring") == 0)
        ring();
#ifdef _OPENMP
    else if (strcmp(what, "omp_critical") == 0)
        omp_critical();
    else if (strcmp(what, "omp_barrier") == 0)
        omp_barrier();
    else if (strcmp(what, "omp_parts") == 0)
        omp_parts();
#endif
    else
        return 2;
    return 0;
}
