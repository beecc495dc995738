/* Writes lines by so many stores that each of them is far from the first of the table of what was written. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LINES 200000
#define EIGHT(n) line[n] = i, line[n + 1] = i, line[n + 2] = i, line[n + 3] = i, line[n + 4] = i, line[n + 5] = i, \
    line[n + 6] = i, line[n + 7] = i

__attribute__((noinline)) static void fill(volatile uint64_t *line, uint64_t i)
{
    EIGHT(0);
    EIGHT(8);
    EIGHT(16);
    EIGHT(24);
}

int main(void)
{
    uint64_t *lines = aligned_alloc(256, (size_t)LINES * 256);
    uint64_t sum = 0;

    for (uint64_t i = 0; i < LINES; i++)
        fill(lines + 32 * i, i);
    for (uint64_t i = 0; i < 32 * LINES; i += 7)
        sum += lines[i];
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
