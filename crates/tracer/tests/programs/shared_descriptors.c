/* A child that shares its parent's descriptors, not its memory (clone(CLONE_FILES)): what either opens or closes the other
 * sees, both do their work, and the parent forks on when the child has ended. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int
sum(int n)
{
    volatile int all[64] = { 0 };
    for (int i = 0; i < n; i++)
        all[i % 64] += i;
    int s = 0;
    for (int i = 0; i < 64; i++)
        s += all[i];
    return s;
}

int
main(void)
{
    for (int round = 0; round < 4; round++) {
        int status, kept = open("/dev/null", O_RDONLY);
        fflush(stdout);
        pid_t pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
        if (pid == 0) {
            int opened = open("/dev/null", O_RDONLY);
            close(kept);
            if (round == 2)
                execl("/bin/true", "true", (char *)NULL);
            if (round == 3) {
                pid_t inner = fork();
                if (inner == 0)
                    _exit(sum(2000) % 7);
                waitpid(inner, &status, 0);
            }
            _exit(sum(1000) % 5 + opened);
        }
        sum(500);
        waitpid(pid, &status, 0);
        printf("%d: %#x, closed %d\n", round, status, fcntl(kept, F_GETFD) == -1);
        if (fcntl(kept + 1, F_GETFD) == -1)
            printf("what it opened is not here\n");
        close(kept + 1);
    }
    pid_t pid = fork();
    if (pid == 0)
        _exit(sum(3000) % 3);
    int status;
    waitpid(pid, &status, 0);
    printf("%#x %d\n", status, sum(4000));
    return 0;
}
