/* A team of threads that run one function. */
#ifndef WORKLOADS_TEAM_H
#define WORKLOADS_TEAM_H

#include <stdint.h>

#define TEAM_MAX_THREADS 256

/* Calls work(context, 0) … work(context, threads - 1) at once and returns when all have returned. The caller is
 * thread 0: a team of one creates no thread. */
void team_run(uint64_t threads, void (*work)(void *context, uint64_t thread), void *context);

/* How many of `total` operations thread `thread` of `threads` performs. */
static inline uint64_t team_share(uint64_t total, uint64_t threads, uint64_t thread)
{
    return total / threads + (thread < total % threads);
}

#endif
