/* A heap of a terabyte is reserved, used a little, and given back whole, as GHC's runtime does it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define RESERVED (1ul << 40)
#define USED (1ul << 20)

int
main(void)
{
    char *heap = mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (heap == MAP_FAILED) {
        puts("no room");
        return 0;
    }
    char *used = heap + USED;
    for (int round = 0; round < 3; round++) {
        if (mprotect(used, USED, PROT_READ | PROT_WRITE) != 0)
            return 1;
        printf("%d ", used[USED - 1]);
        memset(used, 1 + round, USED);
        if (madvise(heap, RESERVED, MADV_DONTNEED) != 0)
            return 2;
        printf("%d\n", used[USED / 2]);
    }
    return 0;
}
