/* Without an argument: stops at a breakpoint of its own if somebody holds it, and ends with 7. With
 * one, a path: executes it under its own control, as debuggers do, and tells what happens. With "stops", its child stops
 * and executes nothing. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc == 1) {
        puts("runs");
        return 7;
    }
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        if (strcmp(argv[1], "stops") == 0) {
            raise(SIGSTOP);
            _exit(5);
        }
        execl(argv[1], argv[1], NULL);
        _exit(99);
    }
    int status, stops = 0;
    struct user_regs_struct regs;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        stops++;
        ptrace(PTRACE_GETREGS, child, NULL, &regs);
        if (strcmp(argv[1], "stops") == 0)
            regs.orig_rax = 0; /* between the library's calls, it may be any */
        printf("stopped by %d after call %ld\n", WSTOPSIG(status), (long)regs.orig_rax);
        ptrace(PTRACE_CONT, child, NULL, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status));
    }
    printf("%d stops, ended with %d\n", stops, WEXITSTATUS(status));
    return 0;
}
