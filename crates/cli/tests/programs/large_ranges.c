/* Large ranges with something here and there become writable, are given back, and grow: what they hold then is zeros, what
 * was written before, or what a file holds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE (8ul << 20)
#define RW (PROT_READ | PROT_WRITE)

static void check(int good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

static void mark(char *at, long seed)
{
    for (unsigned long i = 0; i < SIZE; i += 300000)
        memset(at + i, (int)(seed + i / 300000), 100);
}

static long sum(const char *at)
{
    long all = 0;
    for (unsigned long i = 0; i < SIZE; i += 50)
        all = all * 3 + at[i];
    return all;
}

int main(int count, char **args)
{
    int file = open(args[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    char *data = calloc(1, SIZE);
    mark(data, 3);
    check(count == 2 && write(file, data, SIZE) == (long)SIZE, "write");
    long all = 0;
    for (int kind = 0; kind < 3; kind++) {
        /* Of its own, of a file's contents, of a shared file's. */
        int flags = kind == 0 ? MAP_PRIVATE | MAP_ANONYMOUS : kind == 1 ? MAP_PRIVATE : MAP_SHARED;
        char *at = mmap(NULL, SIZE, PROT_NONE, flags, kind == 0 ? -1 : file, 0);
        check(at != MAP_FAILED && mprotect(at, SIZE, RW) == 0, "mprotect");
        all += sum(at);
        mark(at, 40 * kind);
        /* Between what can be written already. */
        check(mprotect(at + SIZE / 4, SIZE / 2, PROT_READ) == 0 && mprotect(at, SIZE, RW) == 0, "mprotect again");
        all += sum(at);
        check(mprotect(at, SIZE / 4, PROT_READ) == 0 && madvise(at, SIZE, MADV_DONTNEED) == 0, "madvise");
        all += sum(at);
        check(mprotect(at, SIZE, RW) == 0, "mprotect last");
        mark(at, 11);
        if (kind == 0) {
            at = mremap(at, SIZE, 2 * SIZE, MREMAP_MAYMOVE);
            check(at != MAP_FAILED, "mremap");
            all += sum(at) + sum(at + SIZE);
            mark(at + SIZE, 17);
        }
        all += sum(at);
    }
    printf("%ld\n", all);
    return 0;
}
