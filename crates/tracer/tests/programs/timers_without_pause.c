/* A timer of a microsecond: the next signal is there whenever one was taken. The handler ends it. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static const struct itimerval often = { { 0, 1 }, { 0, 1 } }, never;
static volatile int left = 300;

static void
tick(int sig)
{
    /* One may still be pending behind the last. */
    if (left > 0 && --left == 0)
        setitimer(ITIMER_REAL, &never, NULL);
}

int
main(void)
{
    volatile unsigned long turns = 0;
    struct sigaction action = { .sa_handler = tick };
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (left > 0)
        turns++;
    printf("%d left\n", left);
    return 0;
}
