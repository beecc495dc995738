/* Signals that say who sent them, also those that the processor raises otherwise. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile int from_me, code, value;

static void
on_signal(int signal, siginfo_t *info, void *context)
{
    from_me = info->si_pid == getpid() && info->si_uid == getuid();
    code = info->si_code;
    value = info->si_value.sival_int;
}

int
main(void)
{
    static const int signals[] = { SIGTRAP, SIGILL, SIGFPE, SIGSEGV, SIGBUS, SIGUSR1 };
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    for (int i = 0; i < 6; i++) {
        sigaction(signals[i], &action, NULL);
        kill(getpid(), signals[i]);
        printf("%d: %d %d\n", signals[i], from_me, code);
        sigqueue(getpid(), signals[i], (union sigval){ .sival_int = 77 + i });
        printf("%d: %d %d %d\n", signals[i], from_me, code, value);
    }
    return 0;
}
