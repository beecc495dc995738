/* Another process sends real-time signals, each with its number. "order": one thread gets them, in the order of sending.
 * "threads": threads come and go meanwhile, and whichever gets one handles it: none is lost, none comes twice.
 * "children": a process gets one as soon as it is there. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIGNALS = 2000, EACH = 4, PATIENCE = 500 };

static volatile int handled, disorder;
static volatile unsigned char seen[SIGNALS];

static void
handle(int sig, siginfo_t *info, void *context)
{
    int number = info->si_value.sival_int;
    int before = __sync_fetch_and_add(&handled, 1);
    disorder += before != number;
    __sync_fetch_and_add(&seen[number], 1);
}

static void *
short_lived(void *p)
{
    return memset(malloc(100), 1, 100);
}

static void
threads_come_and_go(void)
{
    pthread_t t[EACH];
    for (int i = 0; i < EACH; i++)
        pthread_create(&t[i], NULL, short_lived, NULL);
    for (int i = 0; i < EACH; i++) {
        void *p;
        pthread_join(t[i], &p);
        free(p);
    }
}

static void
send_all(pid_t to)
{
    for (int i = 0; i < SIGNALS; i++) {
        union sigval value = { .sival_int = i };
        while (sigqueue(to, SIGRTMIN, value) != 0)
            ;
        if (i % 4 == 0)
            nanosleep(&(struct timespec){ 0, 100000 }, NULL);
    }
    _exit(0);
}

static int
children(void)
{
    int ended = 0;
    for (int i = 0; i < 100; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            alarm(20); /* it is lost */
            for (;;)
                pause();
        }
        kill(pid, SIGTERM);
        int status = 0;
        waitpid(pid, &status, 0);
        ended += WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
    }
    printf("%d ended\n", ended);
    return ended != 100;
}

int
main(int argc, char **argv)
{
    if (strcmp(argv[argc - 1], "children") == 0)
        return children();
    int threads = strcmp(argv[argc - 1], "threads") == 0;
    struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART };
    sigaction(SIGRTMIN, &action, NULL);
    pid_t self = getpid(), sender = fork();
    if (sender == 0)
        send_all(self);
    for (int ended = 0; handled < SIGNALS && ended < PATIENCE; ended += waitpid(sender, NULL, WNOHANG) != 0) {
        if (threads)
            threads_come_and_go();
        else
            for (volatile int i = 0; i < 10000; i++)
                ;
    }
    int lost = 0, twice = 0;
    for (int i = 0; i < SIGNALS; i++) {
        lost += seen[i] == 0;
        twice += seen[i] > 1;
    }
    int mixed = !threads && disorder > 0;
    printf("%d lost, %d twice, %s\n", lost, twice, mixed ? "in disorder" : "in order");
    return lost > 0 || twice > 0 || mixed;
}
