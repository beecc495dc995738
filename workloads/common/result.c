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

double result_spanned(const struct result_span *spans, uint64_t threads)
{
    double begin = 0, end = 0;

    for (uint64_t t = 0; t < threads; t++) {
        if (spans[t].begin > 0 && (begin == 0 || spans[t].begin < begin))
            begin = spans[t].begin;
        if (spans[t].end > end)
            end = spans[t].end;
    }
    return end - begin;
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
