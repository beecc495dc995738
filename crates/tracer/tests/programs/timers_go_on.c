/* Timers go on in what a program executes: that is how commands get a limit. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void
on_signal(int signal)
{
    handled++;
}

static int
executed(const char *way)
{
    struct itimerval left;
    if (strcmp(way, "ends") == 0) {
        for (;;)
            pause();
    }
    int which = strcmp(way, "virtual") == 0 ? ITIMER_VIRTUAL : ITIMER_REAL;
    int number = which == ITIMER_VIRTUAL ? SIGVTALRM : SIGALRM;
    signal(number, on_signal);
    getitimer(which, &left);
    printf("%s goes on: %d", way, left.it_interval.tv_usec > 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    while (handled < 5)
        ;
    struct itimerval off = { { 0, 0 }, { 0, 0 } };
    printf(", ended: %d\n", setitimer(which, &off, NULL));
    return 0;
}

static void
execute(char *program, char *way)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char *arguments[] = { program, way, NULL };
        struct itimerval often = { { 0, 20000 }, { 0, 20000 } };
        sigset_t both;
        sigemptyset(&both);
        sigaddset(&both, SIGALRM);
        sigaddset(&both, SIGVTALRM);
        if (strcmp(way, "ends") == 0)
            alarm(1);
        else {
            sigprocmask(SIG_BLOCK, &both, NULL);
            setitimer(strcmp(way, "virtual") == 0 ? ITIMER_VIRTUAL : ITIMER_REAL, &often, NULL);
        }
        execv(program, arguments);
        _exit(1);
    }
    waitpid(child, &status, 0);
    printf("%s: %x\n", way, status);
}

int
main(int argc, char **argv)
{
    if (argc > 1)
        return executed(argv[1]);
    execute(argv[0], "ends");
    execute(argv[0], "real");
    execute(argv[0], "virtual");
    return 0;
}
