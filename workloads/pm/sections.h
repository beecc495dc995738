/* Threads that work by failure-atomic sections: each has its log, and counts within a section what it has done. */
#ifndef WORKLOADS_SECTIONS_H
#define WORKLOADS_SECTIONS_H

#include "../modes/log.h"
#include "counters.h"

struct sections {
    struct counters counters;
    struct log_space logs[MOST_THREADS];
};

/* Undoes what was not committed; answers what is wrong. */
static inline const char *sections_recover(struct pool *pool, struct sections *sections, uint64_t threads)
{
    for (uint64_t t = 0; t < threads; t++)
        if (!log_recover(pool, &sections->logs[t]))
            return "a log names what is not in the pool";
    return NULL;
}

/* Within a section, which it ends: the thread's update number `done` and all that was stored are persistent. */
static inline void sections_commit(struct log *log, struct sections *sections, uint64_t thread, uint64_t done)
{
    log_store(log, &sections->counters.of[thread].done, done);
    log_commit(log);
}

#endif
