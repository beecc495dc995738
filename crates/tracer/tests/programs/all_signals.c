/* One thread waits for all signals there are, by a call and by a file, while others begin, fork and end the process. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int got;

static void *
waits(void *how)
{
    sigset_t all;
    struct signalfd_siginfo info;
    sigfillset(&all);
    int file = signalfd(-1, &all, 0);
    for (;;) {
        int signal = how == NULL ? sigwaitinfo(&all, NULL)
            : read(file, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : -1;
        if (signal == SIGUSR1)
            got = signal;
    }
    return NULL;
}

static void *
nothing(void *unused)
{
    return unused;
}

int
main(int argc, char **argv)
{
    sigset_t all;
    pthread_t waiter, other;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_create(&waiter, NULL, waits, argc > 1 ? argv[1] : NULL);
    usleep(20000);
    for (int i = 0; i < 5; i++) {
        pthread_create(&other, NULL, nothing, NULL);
        pthread_join(other, NULL);
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    kill(getpid(), SIGUSR1);
    while (got != SIGUSR1)
        usleep(100);
    printf("got %d\n", got);
    return 0;
}
