/* Children by fork, vfork and posix_spawn, deep forks, an execve that fails, and one that succeeds:
 * `children` runs it all and becomes `children last`. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void wait_for(const char *name, pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    printf("%s %d\n", name, WEXITSTATUS(status));
    fflush(stdout);
}

static int nested(int depth)
{
    if (depth == 0)
        return 1;
    pid_t child = fork();
    if (child == 0)
        _exit(nested(depth - 1) + 1);
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "last") == 0) {
        puts("became another");
        return 4;
    }
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child == 0) {
            volatile char *memory = malloc(100000);
            for (int k = 0; k < 100000; k++)
                memory[k] = (char)k;
            _exit(i + memory[3]);
        }
        wait_for("forked", child);
    }
    printf("nested %d\n", nested(5));
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        pid_t child = vfork();
        if (child == 0) {
            execl("/nowhere/at/all", "x", NULL);
            execl("/bin/sh", "sh", "-c", "echo in sh; exit 6", NULL);
            _exit(1);
        }
        wait_for("vforked", child);
    }
    pid_t child = vfork();
    if (child == 0)
        _exit(7);
    wait_for("vforked", child);
    char *const command[] = { "sh", "-c", "exit 8", NULL };
    posix_spawn(&child, "/bin/sh", NULL, NULL, command, environ);
    wait_for("spawned", child);
    char *const again[] = { argv[0], "last", NULL };
    execv("/proc/self/exe", again);
    return 1;
}
