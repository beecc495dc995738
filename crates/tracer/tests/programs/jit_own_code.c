/* Threads whose code changes itself, beside threads that write theirs into the same page, under a fast timer; with
 * an argument the page is made not executable ("closed"), or not writable ("kept"), and open again all the time,
 * and who finds it so tries again. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { THREADS = 4, PIECE = 64 };

static uint8_t *code;
static int rounds = 2000;
static volatile int wrong, ended;
static int closing, left;

/* Writes its argument into the next instruction, which returns it. */
static void *
changes_itself(void *number)
{
    static const uint8_t made[] = { 0x89, 0x3d, 1, 0, 0, 0,  /* mov %edi, 1(%rip) */
                                    0xb8, 0,    0, 0, 0,     /* mov $0, %eax */
                                    0xc3 };
    uint8_t *mine = code + (uintptr_t)number * PIECE;
    for (size_t i = 0; i < sizeof(made); i++)
        ((volatile uint8_t *)mine)[i] = made[i];
    for (int i = 0; i < rounds; i++) {
        /* docs/limits.md has what may go wrong where the page is closed just then. */
        if (((int (*)(int))mine)(i) != i && !closing)
            __sync_fetch_and_add(&wrong, 1);
    }
    return NULL;
}

static void *
is_changed(void *number)
{
    uint8_t *mine = code + (uintptr_t)number * PIECE + 3;
    for (int i = 0; i < rounds; i++) {
        mine[0] = 0xb8; /* mov $i, %eax */
        __atomic_store_n((int32_t *)(mine + 1), i, __ATOMIC_SEQ_CST);
        mine[5] = 0xc3;
        if (((int (*)(void))mine)() != i)
            __sync_fetch_and_add(&wrong, 1);
    }
    return NULL;
}

static void *
closes_and_opens(void *unused)
{
    while (!ended) {
        mprotect(code, 4096, PROT_READ | left);
        mprotect(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    }
    return unused;
}

static void
try_again(int signal)
{
    (void)signal;
}

int
main(int argc, char **argv)
{
    pthread_t threads[THREADS], closer;
    closing = argc > 1;
    code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0);
    if (code == MAP_FAILED)
        return 2;
    if (closing) {
        rounds = 300;
        left = strcmp(argv[1], "closed") == 0 ? PROT_WRITE : PROT_EXEC;
        signal(SIGSEGV, try_again);
        pthread_create(&closer, NULL, closes_and_opens, NULL);
    } else {
        struct itimerval fast = { { 0, 1000 }, { 0, 1000 } };
        signal(SIGALRM, try_again);
        setitimer(ITIMER_REAL, &fast, NULL);
    }
    for (uintptr_t n = 0; n < THREADS; n++)
        pthread_create(&threads[n], NULL, n % 2 == 0 ? changes_itself : is_changed,
                       (void *)n);
    for (int n = 0; n < THREADS; n++)
        pthread_join(threads[n], NULL);
    ended = 1;
    if (closing)
        pthread_join(closer, NULL);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
