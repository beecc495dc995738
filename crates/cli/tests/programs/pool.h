/* A file that stands for persistent memory, and which defect a program is built with. */
#include <fcntl.h>
#include <immintrin.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NONE, MISSING_FLUSH, MISSING_FENCE, ORDERING, FLUSHED_TWICE, CLEAN_FLUSH, FENCED_TWICE, WRONG_LINE, READ };

#ifndef DEFECT
#define DEFECT NONE
#endif
#define HAS(defect) (DEFECT == (defect))

#define LINE __attribute__((aligned(64)))

static void *
map_pool(const char *path, size_t bytes)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        exit(2);
    void *pool = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (pool == MAP_FAILED)
        exit(2);
    close(fd);
    return pool;
}
