/* Many short processes. `families N MODE`: N times, one after the other,
 *   plain:   a child that works;
 *   orphans: a child that makes a child and ends; that one works when its parent is gone;
 *   execs:   a child that executes this program as `families 0 -`, which works. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long data[512];

__attribute__((noinline)) static void
work(long seed)
{
    for (int i = 0; i < 512; i++)
        data[i] = seed + i;
}

/* The whole family has ended when nobody holds the pipe any more. */
static void
child(const char *self, const char *mode, long i)
{
    if (strcmp(mode, "orphans") == 0) {
        pid_t parent = getpid();
        if (fork() != 0)
            _exit(0);
        while (getppid() == parent)
            usleep(1000);
    }
    if (strcmp(mode, "execs") == 0)
        execl(self, self, "0", "-", (char *)NULL);
    work(i);
    _exit(0);
}

int
main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    long n = atol(argv[1]);
    if (n == 0)
        work(7);
    for (long i = 0; i < n; i++) {
        int pipes[2];
        char nothing;
        if (pipe(pipes) != 0)
            return 1;
        pid_t pid = fork();
        if (pid == 0) {
            close(pipes[0]);
            child(argv[0], argv[2], i);
        }
        close(pipes[1]);
        if (read(pipes[0], &nothing, 1) != 0 || waitpid(pid, NULL, 0) != pid)
            return 1;
        close(pipes[0]);
    }
    return 0;
}
