#include "memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Bytes of a page and of a large one; where they are larger, the hint below goes unheard. */
#define PAGE ((size_t)4 << 10)
#define LARGE_PAGE ((size_t)2 << 20)

static char *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "no memory for %zu bytes; choose smaller arguments\n", bytes);
        exit(1);
    }
    return memory;
}

void *memory_fresh(size_t bytes)
{
    bytes = (bytes + PAGE - 1) & ~(PAGE - 1);
    if (bytes < LARGE_PAGE)
        return map(bytes);
    char *whole = map(bytes + LARGE_PAGE);
    size_t before = -(uintptr_t)whole & (LARGE_PAGE - 1);
    if (before > 0)
        munmap(whole, before);
    if (before < LARGE_PAGE)
        munmap(whole + before + bytes, LARGE_PAGE - before);
    /* A hint: where the system has no large pages, small ones do. */
    madvise(whole + before, bytes, MADV_HUGEPAGE);
    return whole + before;
}

void memory_release(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}
