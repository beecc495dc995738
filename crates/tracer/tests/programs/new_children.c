/* Signals of the kind that faults are, sent to children right after fork: they end, or their handlers run. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_signal(int signal)
{
    _exit(40 + signal);
}

static void child_of(int number, int handled)
{
    signal(number, handled ? on_signal : SIG_DFL);
    pid_t child = fork();
    if (child == 0) {
        for (;;)
            pause();
    }
    kill(child, number);
    int status = 0;
    for (int i = 0; i < 400; i++) {
        if (waitpid(child, &status, WNOHANG) == child) {
            printf("%d: %x\n", number, (unsigned)status);
            return;
        }
        usleep(50000);
    }
    printf("%d: lost\n", number);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
}

int main(void)
{
    static const int numbers[] = { SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGUSR1, SIGSEGV, SIGTERM };
    struct rlimit none = { 0, 0 };
    setrlimit(RLIMIT_CORE, &none);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 8; i++)
            child_of(numbers[i], round % 2);
    }
    return 0;
}
