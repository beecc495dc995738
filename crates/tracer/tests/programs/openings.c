/* A program maps memory where it knows that something is, or that nothing is, whatever else happens in between. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { PAGE = 4096, ANONYMOUS = MAP_PRIVATE | MAP_ANONYMOUS };

static pthread_barrier_t together;

/* Where there is a mapping, of whatever kind. */
static void over_what_is_there(void)
{
    static const int kinds[] = { PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC, PROT_READ, PROT_NONE,
                                 PROT_READ | PROT_WRITE | PROT_EXEC };
    for (int i = 0; i < 5; i++) {
        char *there = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, ANONYMOUS, -1, 0);
        mprotect(there, PAGE, kinds[i]);
        errno = 0;
        void *over = mmap(there, PAGE, PROT_READ | PROT_WRITE, ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        printf("%x: %s %s\n", (unsigned)kinds[i], over == MAP_FAILED ? "failed" : "mapped", strerror(errno));
    }
}

/* The stack is the program's own: nothing of this is mapped for the thread. */
static void *waits(void *nothing)
{
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    return nothing;
}

static void take_back(char *opening, size_t bytes)
{
    char *back = mmap(opening, bytes, PROT_READ | PROT_WRITE, ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    long foreign = 0;
    for (size_t i = 0; back == opening && i < bytes; i += 64) {
        foreign += back[i] != 0;
        back[i] = 1;
    }
    printf("%s, %ld\n", back == opening ? "taken back" : strerror(errno), foreign);
}

/* In between, a thread begins, or a process. */
static void openings(size_t bytes)
{
    static char stack[1 << 18] __attribute__((aligned(4096)));
    pthread_t thread;
    pthread_attr_t attributes;
    char *opening = mmap(NULL, bytes, PROT_READ | PROT_WRITE, ANONYMOUS, -1, 0);
    munmap(opening, bytes);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, sizeof(stack));
    pthread_barrier_init(&together, NULL, 2);
    pthread_create(&thread, &attributes, waits, NULL);
    pthread_barrier_wait(&together);
    take_back(opening, bytes);
    pthread_barrier_wait(&together);
    pthread_join(thread, NULL);
    munmap(opening, bytes);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        take_back(opening, bytes);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    take_back(opening, bytes);
}

int main(void)
{
    over_what_is_there();
    for (size_t bytes = 1 << 16; bytes <= 1 << 24; bytes <<= 2)
        openings(bytes);
    return 0;
}
