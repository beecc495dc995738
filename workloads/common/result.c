#include "result.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

double result_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void result_print(const char *name, uint64_t ops, double seconds, uint64_t checksum)
{
    double rate = seconds > 0 ? (double)ops / seconds : 0;
    printf("%s: ops=%llu seconds=%.6f ops_per_s=%.0f checksum=%016llx\n", name, (unsigned long long)ops, seconds,
           rate, (unsigned long long)checksum);
}

uint64_t result_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
