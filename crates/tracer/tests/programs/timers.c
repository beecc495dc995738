/* What calls that set and ask timers tell of them, to ten seconds, so that time does not show. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t came;

static void
count(int sig)
{
    (void)sig;
    came++;
}

static void
tell(const char *what, const struct itimerval *t)
{
    printf("%s: %ld s, then each %ld.%06ld s\n", what, (t->it_value.tv_sec + 5) / 10 * 10,
           t->it_interval.tv_sec, t->it_interval.tv_usec);
}

static void
set(int which, long value, long interval)
{
    struct itimerval new = { { interval, interval }, { value, 0 } }, old, now;
    setitimer(which, &new, &old);
    tell("old", &old);
    getitimer(which, &now);
    tell("now", &now);
}

int
main(void)
{
    alarm(100);
    printf("%u s were left, ", (alarm(50) + 5) / 10 * 10);
    printf("and %u, ", (alarm(0x7fffffff) + 5) / 10 * 10);
    printf("and %u, ", (alarm(0) + 5) / 10 * 10);
    printf("and %u\n", alarm(0));
    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
        set(which, 300, 7);
        set(which, 900, 3);
        set(which, 200, 0);
        set(which, 0, 0);
    }

    /* They come, too: each of three, and one that alarm has replaced does not. */
    struct itimerval soon = { { 0, 0 }, { 0, 20000 } };
    signal(SIGALRM, count);
    for (int i = 0; i < 3; i++) {
        setitimer(ITIMER_REAL, &soon, NULL);
        while (came == i)
            ;
        printf("%d came\n", (int)came);
    }
    soon.it_interval.tv_usec = 5000;
    setitimer(ITIMER_REAL, &soon, NULL);
    while (came < 9)
        ;
    alarm(0);
    puts("nine came");
    return 0;
}
