#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

void *memory_fresh(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "no memory for %zu bytes; choose smaller arguments\n", bytes);
        exit(1);
    }
    return memory;
}

void memory_release(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}
