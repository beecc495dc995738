/* Signals that faults raise, held back by the mask of a call that waits: a descriptor tells of them, from before the call or while it
 * waits, they interrupt nothing, and they are handled behind it, or behind the handler of a signal that does interrupt it. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PPOLL, PSELECT, EPOLL, EPOLL2, TELLING, SUSPEND = TELLING, CALLS };
static const char *const calls[] = { "ppoll", "pselect", "epoll_pwait", "epoll_pwait2", "sigsuspend" };
static int patience = 1000;
/* And one that none raises. */
static const int held[] = { SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGTRAP, SIGUSR1 };
enum { HELD = sizeof(held) / sizeof(held[0]) };

static void
handler(int signal)
{
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    printf("handled %d with", signal);
    for (int i = 1; i < 32; i++) {
        if (sigismember(&now, i))
            printf(" %d", i);
    }
    printf(" blocked\n");
}

static sigset_t
only(int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return set;
}

static int
wait_for(int call, int descriptor, const sigset_t *mask)
{
    const struct timespec a_while = { patience / 1000, 0 };
    struct pollfd ready = { .fd = descriptor, .events = POLLIN };
    struct epoll_event event = { .events = EPOLLIN };
    fd_set set;
    int epoll, result;
    switch (call) {
    case PPOLL: return ppoll(&ready, 1, &a_while, mask);
    case PSELECT:
        FD_ZERO(&set);
        FD_SET(descriptor, &set);
        return pselect(descriptor + 1, &set, NULL, NULL, &a_while, mask);
    case SUSPEND: return sigsuspend(mask);
    }
    epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
    if (call == EPOLL)
        result = epoll_pwait(epoll, &event, 1, patience, mask);
    else
        result = (int)syscall(SYS_epoll_pwait2, epoll, &event, 1, &a_while, mask, 8);
    close(epoll);
    return result;
}

static void
wait_until_asleep(pid_t process)
{
    char file[32], state = 0;
    snprintf(file, sizeof(file), "/proc/%d/stat", process);
    while (state != 'S') {
        usleep(20000);
        FILE *stat = fopen(file, "r");
        if (fscanf(stat, "%*d %*s %c", &state) != 1)
            _exit(1);
        fclose(stat);
    }
}

/* Sends them when the program waits, in this order. */
static pid_t
send_later(int first, int second)
{
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        wait_until_asleep(parent);
        kill(parent, first);
        if (second != 0)
            kill(parent, second);
        _exit(0);
    }
    return child;
}

static void
say(const char *when, int call, int result)
{
    printf("%s, %s: %d, %s\n", when, calls[call], result, result < 0 ? strerror(errno) : "no error");
}

static void
take(int descriptor)
{
    struct signalfd_siginfo info;
    ssize_t got = read(descriptor, &info, sizeof(info));
    printf("took %d\n", got == sizeof(info) ? (int)info.ssi_signo : -1);
}

int
main(void)
{
    sigset_t all, mask, before;
    int nothing[2], something[2];
    setvbuf(stdout, NULL, _IONBF, 0);
    sigfillset(&all);
    for (int i = 0; i < HELD; i++)
        signal(held[i], handler);
    signal(SIGUSR2, handler);
    if (pipe(nothing) != 0 || pipe(something) != 0 || write(something[1], "x", 1) != 1)
        return 1;
    for (int call = 0; call < TELLING; call++) {
        mask = only(SIGSEGV);
        pid_t child = send_later(SIGSEGV, 0);
        say("without a descriptor", call, wait_for(call, nothing[0], &mask));
        waitpid(child, NULL, 0);
    }
    patience = 20000;
    int told = signalfd(-1, &all, SFD_NONBLOCK);
    for (int i = 0; i < CALLS * HELD; i++) {
        int call = i % CALLS, signal = held[i / CALLS];
        mask = only(signal);
        pid_t child;
        if (call < TELLING) {
            child = send_later(signal, 0);
            say("comes meanwhile", call, wait_for(call, told, &mask));
            waitpid(child, NULL, 0);
        }

        child = send_later(signal, SIGUSR2);
        sigaddset(&mask, SIGURG);
        say("beside another", call, wait_for(call, nothing[0], &mask));
        waitpid(child, NULL, 0);

        mask = only(signal);
        sigprocmask(SIG_BLOCK, &mask, &before);
        if (call < TELLING) {
            kill(getpid(), signal);
            say("from before", call, wait_for(call, told, &mask));
            take(told);
            take(told);
        }
        kill(getpid(), signal);
        mask = only(SIGUSR2);
        say("let in", call, wait_for(call, nothing[0], &mask));
        sigprocmask(SIG_SETMASK, &before, NULL);

        /* Of what it lets in nothing is handled, as it has not waited. */
        sigprocmask(SIG_BLOCK, &mask, NULL);
        raise(SIGUSR2);
        mask = only(signal);
        say("ready at once", call, wait_for(call, something[0], &mask));
        sigprocmask(SIG_SETMASK, &before, NULL);
    }
    return 0;
}
