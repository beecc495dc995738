/* Closes its ends of pipes that stand in the place of its standard files: the children at the other
 * ends must see it. Says what they saw. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that reads to the end; its exit code is how much there was. */
static int
reader_of(int number)
{
    int ends[2], status = -1;
    if (pipe(ends) != 0)
        exit(2);
    pid_t child = fork();
    if (child == 0) {
        char bytes[64];
        ssize_t n, sum = 0;
        close(ends[1]);
        while ((n = read(ends[0], bytes, sizeof(bytes))) > 0)
            sum += n;
        _exit((int)sum);
    }
    close(ends[0]);
    dup2(ends[1], number);
    close(ends[1]);
    if (write(number, "seven..", 7) != 7)
        exit(2);
    close(number);
    waitpid(child, &status, 0);
    return status;
}

/* A child that writes until nobody reads; its exit code is the error. */
static int
writer_to_input(void)
{
    int ends[2], status = -1;
    if (pipe(ends) != 0)
        exit(2);
    signal(SIGPIPE, SIG_IGN);
    pid_t child = fork();
    if (child == 0) {
        char bytes[4096] = { 0 };
        close(ends[0]);
        close(0);
        while (write(ends[1], bytes, sizeof(bytes)) > 0)
            ;
        _exit(errno);
    }
    close(ends[1]);
    dup2(ends[0], 0);
    close(ends[0]);
    close(0);
    waitpid(child, &status, 0);
    return status;
}

int
main(void)
{
    int said = dup(1);
    alarm(30);
    int out = reader_of(1), error = reader_of(2), in = writer_to_input();
    dprintf(said, "%#x %#x %#x\n", (unsigned)out, (unsigned)error, (unsigned)in);
    return 0;
}
