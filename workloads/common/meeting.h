/* A place where the threads of a team wait for each other, between a warm-up and what counts.
 *
 * Each message is polled for with plain loads and claimed with an atomic: so a replay of a recording keeps the order. */
#ifndef WORKLOADS_MEETING_H
#define WORKLOADS_MEETING_H

#include "attributes.h"
#include "team.h"

#include <stdatomic.h>

struct meeting {
    struct {
        _Alignas(CACHE_LINE_SIZE) _Atomic uint32_t arrived;
        _Alignas(CACHE_LINE_SIZE) _Atomic uint32_t released;
    } members[TEAM_MAX_THREADS];
};

/* Returns when all `threads` threads of the team have called it. A zeroed meeting is ready, and is ready again after. */
void meeting_attend(struct meeting *meeting, uint64_t threads, uint64_t thread);

#endif
