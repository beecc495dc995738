/* Gives back the memory that its store was in last, and goes on elsewhere. */
#include <stdio.h>
#include <sys/mman.h>

#define BYTES (1ul << 20)

__attribute__((noinline)) static void
fill(char *to, unsigned long seed)
{
    for (unsigned long i = 0; i < BYTES; i += 8) {
        *(unsigned long *)(to + i) = seed + i;
        __asm__ volatile("" ::: "memory");
    }
}

static char *
map(void)
{
    return mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int
main(void)
{
    unsigned long sum = 0;
    for (unsigned long round = 0; round < 8; round++) {
        char *first = map(), *second = map();
        fill(first, round);
        munmap(first, BYTES);
        fill(second, round);
        sum += *(unsigned long *)(second + 4096);
        munmap(second, BYTES);
    }
    printf("%lu\n", sum);
    return 0;
}
