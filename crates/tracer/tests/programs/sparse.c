/* Four terabytes that may be written, of which little is: a sanitizer's shadow, a sparse table. A child has them as well. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESERVED (4ul << 40)
#define STEP (RESERVED / 16)

static long
sum(const volatile long *table)
{
    long all = 0;
    for (unsigned long at = 0; at < RESERVED; at += STEP)
        all += table[at / sizeof(long)];
    return all;
}

int
main(void)
{
    long *table = mmap(NULL, RESERVED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED) {
        puts("no room");
        return 0;
    }
    for (unsigned long at = 0; at < RESERVED; at += 2 * STEP)
        table[at / sizeof(long)] = 7;
    pid_t child = fork();
    if (child == 0) {
        table[STEP / sizeof(long)] = 1;
        printf("child: %ld\n", sum(table));
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    printf("parent: %ld\n", sum(table));
    return 0;
}
