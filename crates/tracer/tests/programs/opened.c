/* Terabytes that are reserved become writable at once, are given back while they are, and grow: a heap of Java's, a thread's stack. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

#define RESERVED (2ul << 40)

int
main(void)
{
    char *heap = mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (heap == MAP_FAILED || mprotect(heap, RESERVED, PROT_READ | PROT_WRITE) != 0) {
        puts("no room");
        return 0;
    }
    heap[RESERVED / 2] = 1;
    printf("%d %d\n", heap[RESERVED / 2], heap[RESERVED - 1]);
    if (madvise(heap, RESERVED, MADV_DONTNEED) != 0)
        return 1;
    heap[RESERVED / 4] = 2;
    printf("%d %d\n", heap[RESERVED / 2], heap[RESERVED / 4]);
    heap = mremap(heap, RESERVED, 2 * RESERVED, MREMAP_MAYMOVE);
    if (heap == MAP_FAILED)
        return 2;
    printf("%d %d\n", heap[RESERVED / 4], heap[2 * RESERVED - 1]);
    return 0;
}
