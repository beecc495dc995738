/* Signals of both kinds reach code that ran before recording ended and runs on after it: faults in the
 * middle of blocks, and a timer's wherever it finds the program. All are repaired, and what is
 * printed does not depend on when they come. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

enum { ROUNDS = 200, WORDS = 512, TICK_US = 100 };

static volatile uint64_t words[8][WORDS], ticked[16];
static volatile uint64_t *page;
static volatile sig_atomic_t faults;

static void on_tick(int signal)
{
    for (int i = 0; i < 16; i++)
        ticked[i] += (uint64_t)i;
}

static void repair(int signal, siginfo_t *info, void *context)
{
    if (info->si_addr < (void *)page || info->si_addr >= (void *)(page + WORDS))
        _exit(9);
    mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
    faults++;
}

/* Loops of their own code, each of several blocks, that keep several values in registers. */
#define LOOP(n)                                                                                    \
    static __attribute__((noinline)) void loop_##n(uint64_t seed)                                  \
    {                                                                                              \
        uint64_t a = seed + n, b = seed * 3, c = seed ^ n, d = 1;                                  \
        for (int i = 0; i < WORDS; i++) {                                                          \
            a = a * 6364136223846793005u + 2 * n + 1;                                              \
            if (a >> 63)                                                                           \
                words[n][i] += a ^ b;                                                              \
            else                                                                                   \
                words[n][i] ^= c + d;                                                              \
            b += a >> 7;                                                                           \
            c = words[n][(i + n) % WORDS] + (b << 1);                                              \
            d += c & 1;                                                                            \
        }                                                                                          \
        words[n][0] += a + b + c + d;                                                              \
    }

LOOP(0)
LOOP(1)
LOOP(2)
LOOP(3)
LOOP(4)
LOOP(5)
LOOP(6)
LOOP(7)

/* The first store behind others that faults is in the middle of its block. */
static __attribute__((noinline)) void store_to_page(uint64_t round)
{
    words[1][3] += round;
    words[2][5] ^= words[1][3];
    page[round % WORDS] += words[2][5];
    page[(round + 7) % WORDS] ^= round;
    words[3][7] += page[round % WORDS];
}

int main(void)
{
    struct sigaction tick = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
    struct sigaction fault = { .sa_sigaction = repair, .sa_flags = SA_SIGINFO };
    struct itimerval often = { { 0, TICK_US }, { 0, TICK_US } }, never = { { 0, 0 }, { 0, 0 } };
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGALRM, &tick, NULL);
    sigaction(SIGSEGV, &fault, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        void (*const loops[])(uint64_t) = { loop_0, loop_1, loop_2, loop_3,
                                            loop_4, loop_5, loop_6, loop_7 };
        for (int n = 0; n < 8; n++)
            loops[n](round);
        mprotect((void *)page, 4096, PROT_NONE);
        store_to_page(round);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    uint64_t sum = 0;
    for (int n = 0; n < 8; n++)
        for (int i = 0; i < WORDS; i++)
            sum = sum * 31 + words[n][i];
    for (int i = 0; i < WORDS; i++)
        sum = sum * 31 + page[i];
    for (int i = 1; i < 16; i++)
        if (ticked[i] != ticked[1] * (uint64_t)i)
            puts("a tick was done in part");
    printf("faults %d sum %016llx\n", (int)faults, (unsigned long long)sum);
    return 7;
}
