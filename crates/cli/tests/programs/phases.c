/* First writes a little and reads for a while, deep in calls; then two arrays by turns for long: one in order and never read again, one small and over and over. */
#include <stdio.h>
#include <stdlib.h>

enum { LARGE = 1 << 22, SMALL = 512 };

static volatile long large[LARGE], small[SMALL], first[1 << 16];

static __attribute__((noinline)) void
begin(void)
{
    for (long i = 0; i < 1 << 16; i++)
        first[i] = i; /* begin */
}

static __attribute__((noinline)) long
read_again(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += first[i % SMALL];
    return sum;
}

static __attribute__((noinline)) long
read_first(long n)
{
    return read_again(n) + 1;
}

static __attribute__((noinline)) void
in_order(long from, long n)
{
    for (long i = 0; i < n; i++)
        large[(from + i) % LARGE] = i; /* in order */
}

static __attribute__((noinline)) long
over_and_over(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += small[i % SMALL];
        small[i % SMALL] = sum; /* over and over */
    }
    return sum;
}

int
main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1000, sum = 0;
    begin();
    sum += read_first(1 << 20);
    for (long i = 0; i < rounds; i++) {
        in_order(i * 1024, 1024);
        sum += over_and_over(1024);
    }
    printf("%ld\n", sum);
    return 0;
}
