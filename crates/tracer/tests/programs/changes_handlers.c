/* One thread sends itself a signal that the other begins and ends to ignore: each is either handled or ignored. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int stop;
static _Atomic long handled;

static void
handle(int sig)
{
    handled += sig == SIGUSR1;
}

static void *
raises(void *none)
{
    while (!stop)
        raise(SIGUSR1);
    return none;
}

int
main(void)
{
    pthread_t thread;
    signal(SIGUSR1, SIG_IGN);
    if (pthread_create(&thread, NULL, raises, NULL) != 0)
        return 1;
    for (int i = 0; i < 50000; i++) {
        signal(SIGUSR1, handle);
        signal(SIGUSR1, SIG_IGN);
    }
    signal(SIGUSR1, handle);
    long before = handled;
    while (handled == before)
        ;
    stop = 1;
    pthread_join(thread, NULL);
    puts("all were handled or ignored");
    return 0;
}
