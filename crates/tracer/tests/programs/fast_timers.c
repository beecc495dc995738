/* A timer that is faster than its signals can be delivered: each tells how many could not be sent, and together they tell of all
 * expirations there were. */
#include <signal.h>
#include <stdio.h>
#include <time.h>

enum { NANOSECONDS = 20000, LONG_ENOUGH = 10000 };

static const struct itimerspec fast = { { 0, NANOSECONDS }, { 0, NANOSECONDS } }, never = { { 0, 0 }, { 0, 0 } };
static timer_t timer;
static struct timespec began;
/* What was told, the most of what there was, in hundredths, and what the timer says otherwise than its signal. */
static volatile long told, most, others;

static long
expired(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((now.tv_sec - began.tv_sec) * 1000000000 + now.tv_nsec - began.tv_nsec) / NANOSECONDS;
}

static void
on_expiry(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    told += 1 + info->si_overrun;
    others += timer_getoverrun(timer) != info->si_overrun;
    long all = expired();
    if (all >= LONG_ENOUGH / 2 && 100 * told / all > most)
        most = 100 * told / all;
    /* Where a signal takes longer than the timer's period nothing but this is executed. */
    if (all >= LONG_ENOUGH)
        timer_settime(timer, 0, &never, NULL);
}

static void
count(const char *name, int sig)
{
    struct sigaction action = { .sa_sigaction = on_expiry, .sa_flags = SA_SIGINFO | SA_RESTART };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = sig };
    told = most = others = 0;
    sigaction(sig, &action, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    clock_gettime(CLOCK_MONOTONIC, &began);
    timer_settime(timer, 0, &fast, NULL);
    volatile long work = 0;
    while (expired() < LONG_ENOUGH)
        for (int i = 0; i < 1000; i++)
            work += i;
    timer_settime(timer, 0, &never, NULL);
    printf("%s: %s, %ld other\n", name, most >= 90 ? "all told" : "not all told", others);
    timer_delete(timer);
}

int
main(void)
{
    count("SIGUSR1", SIGUSR1);
    count("SIGALRM", SIGALRM);
    count("real time", SIGRTMIN + 1);
    return 0;
}
