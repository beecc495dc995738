/* What a handler has blocked that interrupts a call which waits with a mask of its own, and which of two signals that have come it handles. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MASK = 8 };

static unsigned long blocked[2];
static int handled;

static unsigned long
mask(void)
{
    unsigned long now = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, MASK);
    return now;
}

static void
on_signal(int signal)
{
    (void)signal;
    if (handled < 2)
        blocked[handled] = mask();
    handled++;
}

static unsigned long
bit(int signal)
{
    return 1UL << (signal - 1);
}

static long
wait_with(int call, const unsigned long *during)
{
    struct timespec minute = { 60, 0 };
    struct {
        const unsigned long *mask;
        size_t size;
    } sixth = { during, MASK };
    char event[16];
    int poll;
    long result;
    switch (call) {
    case 0: return syscall(SYS_rt_sigsuspend, during, MASK);
    case 1: return syscall(SYS_ppoll, NULL, 0, &minute, during, MASK);
    case 2: return syscall(SYS_pselect6, 0, NULL, NULL, NULL, &minute, &sixth);
    }
    poll = (int)syscall(SYS_epoll_create1, 0);
    result = syscall(SYS_epoll_pwait, poll, event, 1, 60000, during, MASK);
    close(poll);
    return result;
}

int
main(void)
{
    unsigned long before = bit(SIGUSR1) | bit(SIGUSR2) | bit(SIGURG) | bit(SIGALRM), during = bit(SIGCHLD) | bit(SIGPWR);
    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, on_signal);
    signal(SIGALRM, on_signal);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, MASK);
    for (int call = 0; call < 4; call++) {
        for (int two = 0; two < 2; two++) {
            handled = 0;
            blocked[0] = blocked[1] = 0;
            if (two) {
                raise(SIGUSR1);
                raise(SIGUSR2);
            } else
                ualarm(20000, 0);
            long result = wait_with(call, &during);
            printf("call %d: %ld, %d handled with %lx and %lx blocked, %lx behind\n", call, result, handled, blocked[0], blocked[1], mask());
        }
    }
    return 0;
}
