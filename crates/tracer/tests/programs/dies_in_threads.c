/* Children that a thread of theirs kills, by a signal that it raises in the handler of a fault, as those do that report crashes,
 * while others wait and work. The argument counts them; printed is how many ended in another way. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long work;

static void
reports(int signal)
{
    sigset_t it;
    struct sigaction as_usual = { .sa_handler = SIG_DFL };
    sigemptyset(&it);
    sigaddset(&it, signal);
    sigaction(signal, &as_usual, NULL);
    pthread_sigmask(SIG_UNBLOCK, &it, NULL);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

static void *
waits(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

static void *
works(void *nothing)
{
    for (;;)
        work++;
    return nothing;
}

static void *
fails(void *nothing)
{
    *(volatile int *)nothing = 1;
    return nothing;
}

static void
child(void)
{
    struct sigaction ours = { .sa_handler = reports };
    pthread_t thread;
    sigaction(SIGSEGV, &ours, NULL);
    for (int i = 0; i < 5; i++)
        pthread_create(&thread, NULL, waits, NULL);
    usleep(20000);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread, NULL, works, NULL);
    pthread_create(&thread, NULL, fails, NULL);
    for (;;)
        usleep(1000000);
}

int
main(int argc, char **argv)
{
    int others = 0;
    for (int i = atoi(argv[argc - 1]); i > 0; i--) {
        int status;
        pid_t number = fork();
        if (number == 0)
            child();
        waitpid(number, &status, 0);
        others += !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV;
    }
    printf("%d\n", others);
    return 0;
}
