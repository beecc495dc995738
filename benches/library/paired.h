/* Two ways to do the same, timed in turn: the ratio of each pair, so that a machine whose speed drifts hits both. */
#ifndef BENCHES_PAIRED_H
#define BENCHES_PAIRED_H

#include <stddef.h>

/* Does the work of one sample, some hundred microseconds of it. */
typedef void work_fn(const void *context);

/* Medians over all pairs; the quartiles are those of the ratio. */
struct paired {
    double ours_ns, theirs_ns; /* one sample */
    double ratio;              /* theirs / ours: above 1 ours is faster */
    double lower, upper;
};

struct paired paired_run(work_fn *ours, work_fn *theirs, const void *context, size_t pairs);

#endif
