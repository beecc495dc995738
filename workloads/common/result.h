/* Time and the one line each program prints. */
#ifndef WORKLOADS_RESULT_H
#define WORKLOADS_RESULT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds of a clock that never steps back. */
double result_now(void);

/* When a thread began and ended what is timed, by result_now; begin is 0 where it had no part in it. */
struct result_span {
    double begin, end;
};

/* Seconds from the first begin to the last end. */
double result_spanned(const struct result_span *spans, uint64_t threads);

/* Prints `name: ops=… seconds=… ops_per_s=… checksum=…` to stdout. */
void result_print(const char *name, uint64_t ops, double seconds, uint64_t checksum);

/* The bits of a number, for a checksum. */
uint64_t result_bits(double value);

#ifdef __cplusplus
}
#endif

#endif
