#include "team.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct member {
    void (*work)(void *context, uint64_t thread);
    void *context;
    uint64_t thread;
    pthread_t handle;
};

static void *start(void *argument)
{
    struct member *member = argument;
    member->work(member->context, member->thread);
    return NULL;
}

void team_run(uint64_t threads, void (*work)(void *context, uint64_t thread), void *context)
{
    struct member members[TEAM_MAX_THREADS];

    for (uint64_t t = 1; t < threads; t++) {
        members[t] = (struct member){ .work = work, .context = context, .thread = t };
        int error = pthread_create(&members[t].handle, NULL, start, &members[t]);
        if (error) {
            fprintf(stderr, "cannot start thread %llu: %s\n", (unsigned long long)t, strerror(error));
            exit(1);
        }
    }
    work(context, 0);
    for (uint64_t t = 1; t < threads; t++)
        pthread_join(members[t].handle, NULL);
}
