/* The next image of a process ignores what this one ignores, some of faults and those that
 * the C library keeps to itself among it. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const int ignored[] = { SIGFPE, SIGILL, SIGTRAP, SIGALRM, 32, 33 };
enum { COUNT = sizeof(ignored) / sizeof(ignored[0]) };

/* As the kernel has it: the C library knows nothing of its own signals. */
struct action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

static void
ignore(int signal)
{
    struct action action = { .handler = SIG_IGN };
    syscall(SYS_rt_sigaction, signal, &action, NULL, sizeof(action.mask));
}

static void
tell(const char *when)
{
    char line[256];
    printf("%s: ", when);
    for (int i = 0; i < COUNT; i++) {
        struct action action;
        syscall(SYS_rt_sigaction, ignored[i], NULL, &action, sizeof(action.mask));
        printf("%d", action.handler == SIG_IGN);
    }
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof(line), status) != NULL) {
        if (strncmp(line, "SigIgn", 6) == 0)
            printf(" %s", line);
    }
    fclose(status);
    fflush(stdout);
}

/* Set behind an execve that failed. */
static void
handler(int signal)
{
    if (write(STDOUT_FILENO, "handled\n", 8) < 0)
        _exit(signal);
}

int
main(int argc, char **argv)
{
    static const char *const ways[] = { "fork", "vfork" };
    char *arguments[] = { argv[0], NULL, NULL };
    if (argc > 1) {
        tell(argv[1]);
        for (int i = 0; i < COUNT; i++)
            syscall(SYS_tgkill, getpid(), getpid(), ignored[i]);
        puts("lives");
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        int status;
        arguments[1] = (char *)ways[i];
        pid_t pid = i == 0 ? fork() : vfork();
        if (pid == 0) {
            for (int k = 0; k < COUNT; k++)
                ignore(ignored[k]);
            execv("/nowhere", arguments);
            execv("/proc/self/exe", arguments);
            _exit(1);
        }
        waitpid(pid, &status, 0);
        printf("%s: %x\n", ways[i], status);
        fflush(stdout);
    }
    ignore(SIGFPE);
    execv("/nowhere", arguments);
    tell("still here");
    signal(SIGFPE, handler);
    raise(SIGFPE);
    return 0;
}
