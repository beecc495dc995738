/* Closes what lies between the places where programs, heaps and libraries are, as thread sanitizers do, and goes on with threads and
 * a child. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    uintptr_t begin, end;
} gaps[] = {
    { 0x008000000000, 0x010000000000 },
    { 0x200000000000, 0x300000000000 },
    { 0x340000000000, 0x550000000000 },
    { 0x568000000000, 0x7b0000000000 },
    { 0x7c0000000000, 0x7e8000000000 },
};

static void *
works(void *of)
{
    long sum = 0;
    for (int i = 0; i < 100000; i++)
        sum += i % (int)(intptr_t)of;
    return (void *)sum;
}

static void
start(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, works, (void *)(intptr_t)(i + 2));
    for (int i = 0; i < 4; i++) {
        void *sum;
        pthread_join(threads[i], &sum);
        printf("thread %d: %ld\n", i, (long)sum);
    }
    fflush(stdout);
}

int
main(void)
{
    start();
    for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
        void *begin = (void *)gaps[i].begin;
        printf("closed: %d\n",
               mmap(begin, gaps[i].end - gaps[i].begin, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == begin);
    }
    start();
    pid_t child = fork();
    if (child == 0) {
        start();
        _exit(3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child: %x\n", (unsigned)status);
    return 0;
}
