/* Time and the one line each program prints. */
#ifndef WORKLOADS_RESULT_H
#define WORKLOADS_RESULT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds of a clock that never steps back. */
double result_now(void);

/* Prints `name: ops=… seconds=… ops_per_s=… checksum=…` to stdout. */
void result_print(const char *name, uint64_t ops, double seconds, uint64_t checksum);

/* The bits of a number, for a checksum. */
uint64_t result_bits(double value);

#ifdef __cplusplus
}
#endif

#endif
