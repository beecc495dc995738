/* How many of its updates each thread has made persistent. */
#ifndef WORKLOADS_COUNTERS_H
#define WORKLOADS_COUNTERS_H

#include "command.h"

struct counters {
    struct {
        uint64_t done;
        uint64_t unused[7]; /* a line each */
    } of[MOST_THREADS];
};

/* The thread's update number `done` is persistent; nothing of the next one is yet. */
static inline void counters_set(enum form form, struct counters *counters, uint64_t thread, uint64_t done)
{
    put(form, &counters->of[thread].done, done);
    persist(form, &counters->of[thread].done, sizeof done);
}

#endif
