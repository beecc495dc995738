/* Threads that work for long, one of which forks now and then, while the first thread waits for them in a system call. What
 * is printed does not depend on who comes when. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 1000, WORDS = 512, FORKS_EVERY = 100 };

static int ends[2];
static uint64_t sums[THREADS];

static __attribute__((noinline)) uint64_t
twist(uint64_t a, uint64_t b)
{
    return a * 6364136223846793005u + b;
}

static __attribute__((noinline)) uint64_t
fold(uint64_t a, uint64_t b)
{
    return (a >> 7) ^ (b << 3);
}

static uint64_t (*volatile const steps[2])(uint64_t, uint64_t) = { twist, fold };

static uint64_t
round_of(volatile uint64_t *words, uint64_t seed)
{
    uint64_t a = seed;
    for (int i = 0; i < WORDS; i++) {
        a = steps[a >> 60 & 1](a, words[i] + (uint64_t)i);
        words[i] = a;
    }
    return a;
}

static int
forked(volatile uint64_t *words, uint64_t seed)
{
    pid_t pid = fork();
    if (pid == 0) {
        uint64_t a = seed;
        for (int i = 0; i < 20; i++)
            a = round_of(words, a);
        _exit((int)(a >> 57));
    }
    int status = -1;
    while (waitpid(pid, &status, 0) < 0)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

static void *
work(void *number)
{
    uintptr_t n = (uintptr_t)number;
    volatile uint64_t words[WORDS];
    for (int i = 0; i < WORDS; i++)
        words[i] = (uint64_t)i * (n + 3);
    for (int i = 0; i < ROUNDS; i++) {
        sums[n] += round_of(words, sums[n]);
        if (n == 0 && i % FORKS_EVERY == 0)
            sums[n] += (uint64_t)forked(words, sums[n]);
    }
    if (write(ends[1], "", 1) != 1)
        _exit(2);
    return NULL;
}

int
main(void)
{
    pthread_t threads[THREADS];
    char c;
    if (pipe(ends) != 0)
        return 2;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        if (read(ends[0], &c, 1) != 1)
            return 2;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        printf("%016llx\n", (unsigned long long)sums[i]);
    }
    return 0;
}
