#include "paired.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double timed(work_fn *work, const void *context)
{
    double start = now_ns();
    work(context);
    return now_ns() - start;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double share)
{
    return sorted[(size_t)((double)(count - 1) * share + 0.5)];
}

static double *samples(size_t count)
{
    double *memory = malloc(count * sizeof *memory);
    if (!memory) {
        perror("paired_run");
        exit(1);
    }
    return memory;
}

struct paired paired_run(work_fn *ours, work_fn *theirs, const void *context, size_t pairs)
{
    double *a = samples(pairs), *b = samples(pairs), *ratios = samples(pairs);

    timed(ours, context);
    timed(theirs, context);
    for (size_t i = 0; i < pairs; i++) {
        /* Who goes first alternates, too. */
        if (i % 2 == 0) {
            a[i] = timed(ours, context);
            b[i] = timed(theirs, context);
        } else {
            b[i] = timed(theirs, context);
            a[i] = timed(ours, context);
        }
        ratios[i] = b[i] / a[i];
    }
    qsort(a, pairs, sizeof *a, by_value);
    qsort(b, pairs, sizeof *b, by_value);
    qsort(ratios, pairs, sizeof *ratios, by_value);
    struct paired result = {
        .ours_ns = quantile(a, pairs, 0.5),
        .theirs_ns = quantile(b, pairs, 0.5),
        .ratio = quantile(ratios, pairs, 0.5),
        .lower = quantile(ratios, pairs, 0.25),
        .upper = quantile(ratios, pairs, 0.75),
    };
    free(a);
    free(b);
    free(ratios);
    return result;
}
