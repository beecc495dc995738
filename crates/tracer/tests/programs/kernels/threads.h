/* Parallel loops with results that do not depend on the number of threads. */
#ifndef THREADS_H
#define THREADS_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_THREADS = 16 };

static int n_threads = 1;
static pthread_barrier_t all;

/* The part [*begin, *end) of n that thread `id` does. */
static inline void
part_of(long n, int id, long *begin, long *end)
{
    *begin = n * id / n_threads;
    *end = n * (id + 1) / n_threads;
}

static inline void
wait_for_all(void)
{
    pthread_barrier_wait(&all);
}

/* Runs `work` with the numbers of all threads. */
static inline void
run_on_all(void *(*work)(void *))
{
    pthread_t threads[MAX_THREADS];
    pthread_barrier_init(&all, NULL, (unsigned)n_threads);
    for (long i = 1; i < n_threads; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
            exit(3);
    }
    work((void *)0);
    for (int i = 1; i < n_threads; i++)
        pthread_join(threads[i], NULL);
}

static inline void
read_threads(int argc, char **argv)
{
    if (argc > 1)
        n_threads = atoi(argv[1]);
    if (n_threads < 1 || n_threads > MAX_THREADS)
        exit(2);
}

/* A number between 0 and 1 for each i. */
static inline double
random_at(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

/* Says whether the kernel's own check holds; its exit code. */
static inline int
verdict(const char *name, double error, double limit)
{
    int good = error <= limit;
    printf("%s: error %a, %s\n", name, error, good ? "verified" : "WRONG");
    return good ? 0 : 1;
}

#endif
