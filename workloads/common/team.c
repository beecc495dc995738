/* For affinity. */
#define _GNU_SOURCE

#include "team.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct member {
    void (*work)(void *context, uint64_t thread);
    void *context;
    uint64_t thread;
    const cpu_set_t *allowed; /* one of these CPUs each; NULL: wherever the system likes */
    pthread_t handle;
};

/*
 * Keeps the calling thread on the CPU with this number among `allowed`. A short run would be over before the system
 * spreads threads that were started on one CPU, and would measure how they take turns on it.
 */
static void keep_on(const cpu_set_t *allowed, uint64_t number)
{
    cpu_set_t one;

    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, allowed) || number-- > 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

static void *start(void *argument)
{
    struct member *member = argument;
    if (member->allowed)
        keep_on(member->allowed, member->thread);
    member->work(member->context, member->thread);
    return NULL;
}

void team_run(uint64_t threads, void (*work)(void *context, uint64_t thread), void *context)
{
    struct member members[TEAM_MAX_THREADS];
    cpu_set_t allowed;
    int spread = threads > 1 && sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
                 threads <= (uint64_t)CPU_COUNT(&allowed);

    for (uint64_t t = 1; t < threads; t++) {
        members[t] = (struct member){ .work = work, .context = context, .thread = t,
                                     .allowed = spread ? &allowed : NULL };
        int error = pthread_create(&members[t].handle, NULL, start, &members[t]);
        if (error) {
            fprintf(stderr, "cannot start thread %llu: %s\n", (unsigned long long)t, strerror(error));
            exit(1);
        }
    }
    if (spread)
        keep_on(&allowed, 0);
    work(context, 0);
    if (spread)
        sched_setaffinity(0, sizeof allowed, &allowed);
    for (uint64_t t = 1; t < threads; t++)
        pthread_join(members[t].handle, NULL);
}
