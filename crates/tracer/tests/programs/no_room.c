/* Signals whose frame does not fit where the handler is to run: how the child ends that they come to. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOM = 65536 };

static void
handle(int sig)
{
    _exit(sig == SIGSEGV ? 8 : 9);
}

static void
on(int sig, int flags)
{
    struct sigaction action = { .sa_handler = handle, .sa_flags = flags };
    sigaction(sig, &action, NULL);
}

static void
child(int sig, int faults, int has_another, int blocked)
{
    char *stack = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t alternative = { .ss_sp = stack, .ss_size = ROOM };
    sigaltstack(&alternative, NULL);
    if (has_another)
        on(SIGSEGV, 0);
    on(sig, SA_ONSTACK);
    if (blocked) {
        sigset_t mask;
        sigemptyset(&mask);
        sigaddset(&mask, SIGSEGV);
        sigprocmask(SIG_BLOCK, &mask, NULL);
    }
    if (faults)
        *(volatile int *)8 = 1;
    else
        raise(sig);
    _exit(7);
}

int
main(void)
{
    for (int way = 0; way < 16; way++) {
        int faults = (way & 2) != 0, blocked = (way & 8) != 0, status;
        int sig = (way & 1) == 0 ? SIGSEGV : SIGUSR1;
        if ((faults && sig != SIGSEGV) || (blocked && sig == SIGSEGV))
            continue;
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
            child(sig, faults, (way & 4) != 0, blocked);
        waitpid(pid, &status, 0);
        if (WIFSIGNALED(status))
            printf("%d: killed by %d\n", way, WTERMSIG(status));
        else
            printf("%d: ended with %d\n", way, WEXITSTATUS(status));
    }
    return 0;
}
