/* Data that is aligned to more than a page is so wherever the program lies. */
#include <stdint.h>
#include <stdio.h>

#define HUGE (2 << 20)
#define LARGE (64 << 20)

static char huge[HUGE] __attribute__((aligned(HUGE)));
static char large[LARGE] __attribute__((aligned(LARGE)));

int
main(void)
{
    volatile char *h = huge, *l = large;
    l[LARGE - 1] = h[HUGE - 1] = 1;
    printf("%lu, %lu\n", (unsigned long)(uintptr_t)h % HUGE, (unsigned long)(uintptr_t)l % LARGE);
    return 0;
}
