/* The next image of a process begins with the mask of this one, signals of faults among it, and with what is pending. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int blocked[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGALRM };
enum { COUNT = sizeof(blocked) / sizeof(blocked[0]) };

static void
handler(int signal)
{
    char said[] = "handled  \n";
    said[7] = '0' + signal / 10;
    said[8] = '0' + signal % 10;
    if (write(STDOUT_FILENO, said, strlen(said)) < 0)
        abort();
}

static void
tell(const char *when)
{
    sigset_t mask;
    char line[256];
    sigprocmask(SIG_BLOCK, NULL, &mask);
    printf("%s: ", when);
    for (int i = 0; i < COUNT; i++)
        printf("%d", sigismember(&mask, blocked[i]));
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof(line), status) != NULL) {
        if (strncmp(line, "SigBlk", 6) == 0)
            printf(" %s", line);
    }
    fclose(status);
    fflush(stdout);
}

static void
second_image(const char *way)
{
    sigset_t mask;
    tell(way);
    signal(SIGSEGV, handler);
    signal(SIGILL, handler);
    if (strcmp(way, "fault") == 0)
        *(volatile int *)8 = 1;
    if (strcmp(way, "shell") == 0 && system("grep SigBlk /proc/self/status; exit 3") != 3 << 8)
        abort();
    raise(SIGILL);
    puts("sent");
    fflush(stdout);
    sigemptyset(&mask);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    puts("end");
}

int
main(int argc, char **argv)
{
    static const char *const ways[] = { "nothing", "fault", "pending", "shell" };
    if (argc > 1) {
        second_image(argv[1]);
        return 0;
    }
    for (int i = 0; i < 4; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            char *arguments[] = { argv[0], (char *)ways[i], NULL };
            sigset_t mask;
            sigemptyset(&mask);
            for (int k = 0; k < COUNT; k++)
                sigaddset(&mask, blocked[k]);
            sigprocmask(SIG_SETMASK, &mask, NULL);
            if (i == 2)
                raise(SIGSEGV);
            execv("/nowhere", arguments);
            tell("still here");
            execv("/proc/self/exe", arguments);
            _exit(1);
        }
        waitpid(pid, &status, 0);
        printf("%s: %x\n", ways[i], status);
        fflush(stdout);
    }
    return 0;
}
