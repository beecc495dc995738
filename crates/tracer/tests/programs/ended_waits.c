/* Waits with masks that let in one signal only, which another process sends as soon as it is asked: none may be lost between the
 * call's beginning and its waiting. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 5000 };
static volatile int handled;

static void
handler(int signal)
{
    (void)signal;
    handled++;
}

static void
send_when_asked(pid_t to, int descriptor)
{
    unsigned char after;
    while (read(descriptor, &after, 1) == 1) {
        for (volatile int i = 0; i < (after & 63) * 40; i++)
            ;
        kill(to, SIGUSR2);
    }
    _exit(0);
}

int
main(void)
{
    pid_t parent = getpid();
    sigset_t blocked, during;
    int asks[2];
    if (pipe(asks) != 0)
        return 1;
    signal(SIGUSR2, handler);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    if (fork() == 0) {
        close(asks[1]);
        send_when_asked(parent, asks[0]);
    }
    close(asks[0]);
    /* Faults are held back, too. */
    sigfillset(&during);
    sigdelset(&during, SIGUSR2);
    sigdelset(&during, SIGALRM);
    alarm(60);
    for (int i = 0; i < ROUNDS; i++) {
        unsigned char after = (unsigned char)i;
        if (write(asks[1], &after, 1) != 1)
            return 2;
        int result = i % 2 ? sigsuspend(&during) : ppoll(NULL, 0, NULL, &during);
        if (result != -1 || handled != i + 1) {
            printf("round %d: %d, %d handled\n", i, result, handled);
            return 3;
        }
    }
    close(asks[1]);
    wait(NULL);
    printf("%d handled\n", handled);
    return 0;
}
