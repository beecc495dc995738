/* The processor is told to check that what is accessed is aligned (the flag AC): it is, wherever the program computes, is
 * interrupted and handles signals; one store is not, which a handler is told. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define AC 0x40000UL
enum { NUMBERS = 512 };

static uint64_t numbers[NUMBERS];
static volatile unsigned long ticks, checked;
static sigjmp_buf back;

static inline unsigned long
flags(void)
{
    unsigned long now;
    __asm__ volatile("pushf; pop %0" : "=r"(now)::"memory");
    return now;
}

static inline void
check(int on)
{
    unsigned long wanted = (flags() & ~AC) | (on ? AC : 0);
    __asm__ volatile("push %0; popf" : : "r"(wanted) : "cc", "memory");
}

/* The kernel leaves the flag as it was. */
static void
tick(int signal)
{
    ticks++;
    checked += (flags() & AC) != 0;
}

static void
misaligned(int signal, siginfo_t *info, void *context)
{
    check(0);
    printf("signal %d, code %d\n", signal, info->si_code);
    siglongjmp(back, 1);
}

__attribute__((noinline)) static uint64_t
work(uint64_t factor)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < NUMBERS; i++)
        numbers[i] = i * factor;
    for (int i = 0; i < NUMBERS; i += 3)
        sum += numbers[i] ^ sum << 3;
    return sum;
}

__attribute__((noinline)) static uint64_t
other_work(uint64_t factor)
{
    return work(factor) ^ factor;
}

int
main(void)
{
    struct sigaction action;
    uint64_t (*volatile ways[])(uint64_t) = { work, other_work };
    uint64_t sum = 0;
    memset(&action, 0, sizeof(action));
    action.sa_handler = tick;
    sigaction(SIGALRM, &action, NULL);
    action.sa_sigaction = misaligned;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 2000 }, { 0, 2000 } }, NULL);
    check(1);
    for (uint64_t i = 0; i < 1000 || ticks < 5; i++) {
        uint64_t result = ways[i % 2](i);
        sum += i < 1000 ? result : 0;
    }
    unsigned long on = flags() & AC;
    check(0);
    setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 0 }, { 0, 0 } }, NULL);
    printf("%lx %lx %s\n", on, (unsigned long)sum, checked > 0 ? "also in handlers" : "not in handlers");
    if (sigsetjmp(back, 1) == 0) {
        check(1);
        *(volatile uint32_t *)((char *)numbers + 1) = 5;
        check(0);
        printf("nothing was told\n");
    }
    return 0;
}
