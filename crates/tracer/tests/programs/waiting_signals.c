/* Signals that nobody handles: waited for, looked for, read, ignored, inherited. The argument says
 * which way. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void check(int holds, const char *what)
{
    if (!holds) {
        printf("not: %s (errno %d)\n", what, errno);
        fflush(stdout);
        _exit(1);
    }
}

#define CHECK(condition) check(condition, #condition)

static const struct timespec now, soon = { 0, 20 * 1000 * 1000 }, long_wait = { 20, 0 };
static volatile sig_atomic_t seen[65];

static void on_signal(int signal)
{
    seen[signal]++;
}

static sigset_t only(int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return set;
}

static sigset_t block(int signal)
{
    sigset_t set = only(signal);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return set;
}

static int pending(int signal)
{
    sigset_t set;
    sigpending(&set);
    return sigismember(&set, signal);
}

/* Raised before, and by another process while it waits. */
static void timed(void)
{
    siginfo_t info;
    sigset_t set = block(SIGUSR1);
    block(SIGUSR2);
    CHECK(sigtimedwait(&set, &info, &now) == -1 && errno == EAGAIN);
    for (int i = 0; i < 100; i++) {
        raise(SIGUSR1);
        raise(SIGUSR2); /* blocked, and not asked for */
        CHECK(pending(SIGUSR1) && pending(SIGUSR2));
        CHECK(sigwaitinfo(&set, &info) == SIGUSR1);
        CHECK(info.si_signo == SIGUSR1 && info.si_pid == getpid());
        CHECK(!pending(SIGUSR1) && pending(SIGUSR2));
        CHECK(sigtimedwait(&set, &info, &now) == -1 && errno == EAGAIN);
    }
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        nanosleep(&soon, NULL);
        kill(parent, SIGUSR1);
        _exit(0);
    }
    CHECK(sigtimedwait(&set, &info, &long_wait) == SIGUSR1 && info.si_pid == child);
    CHECK(waitpid(child, NULL, 0) == child);
}

/* Real-time signals are queued in order, with their values. */
static void queued(void)
{
    siginfo_t info;
    sigset_t set = block(SIGRTMIN);
    for (int i = 0; i < 50; i++) {
        union sigval value = { .sival_int = i };
        CHECK(sigqueue(getpid(), SIGRTMIN, value) == 0);
    }
    for (int i = 0; i < 50; i++) {
        CHECK(sigwaitinfo(&set, &info) == SIGRTMIN);
        CHECK(info.si_value.sival_int == i && info.si_code == SI_QUEUE);
    }
    CHECK(!pending(SIGRTMIN));
}

static void *waiter(void *signal)
{
    int got = 0;
    sigset_t set = only(*(int *)signal), mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    CHECK(sigismember(&mask, *(int *)signal)); /* inherited */
    CHECK(sigwait(&set, &got) == 0);
    *(int *)signal = -got;
    return NULL;
}

/* A thread waits for what all have blocked: whichever thread the signal is for. */
static void threads(void)
{
    for (int i = 0; i < 50; i++) {
        int signal = SIGTERM;
        pthread_t thread;
        block(SIGTERM);
        CHECK(pthread_create(&thread, NULL, waiter, &signal) == 0);
        if (i % 2 != 0)
            nanosleep(&(struct timespec){ 0, 1000 * 1000 }, NULL);
        kill(getpid(), SIGTERM);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK(signal == -SIGTERM);
    }
}

/* Read by a descriptor, also one that was made before the signal was blocked. */
static void descriptor(void)
{
    struct signalfd_siginfo info;
    sigset_t set = only(SIGUSR1);
    int fd = signalfd(-1, &set, SFD_NONBLOCK);
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    block(SIGUSR1);
    CHECK(read(fd, &info, sizeof(info)) == -1 && errno == EAGAIN);
    raise(SIGUSR1);
    CHECK(poll(&poll_fd, 1, 20000) == 1);
    CHECK(read(fd, &info, sizeof(info)) == sizeof(info));
    CHECK(info.ssi_signo == SIGUSR1 && info.ssi_pid == (unsigned)getpid());
    CHECK(!pending(SIGUSR1));
    raise(SIGUSR1);
    signal(SIGUSR1, on_signal);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    CHECK(seen[SIGUSR1] == 1);
    CHECK(read(fd, &info, sizeof(info)) == -1 && errno == EAGAIN);
}

static void end_soon(int after_ns, int with)
{
    if (fork() == 0) {
        nanosleep(&(struct timespec){ 0, after_ns }, NULL);
        if (with != 0)
            kill(getppid(), with);
        _exit(0);
    }
}

/* What is ignored interrupts nothing. */
static void ignored(void)
{
    struct timespec left = { 0, 0 };
    end_soon(20 * 1000 * 1000, 0); /* SIGCHLD, by default */
    CHECK(nanosleep(&(struct timespec){ 0, 200 * 1000 * 1000 }, &left) == 0);
    CHECK(wait(NULL) > 0);
    signal(SIGUSR1, SIG_IGN);
    end_soon(20 * 1000 * 1000, SIGUSR1);
    CHECK(poll(NULL, 0, 200) == 0);
    CHECK(wait(NULL) > 0);
    /* Children of who ignores them are not waited for. */
    signal(SIGCHLD, SIG_IGN);
    end_soon(1000, 0);
    CHECK(wait(NULL) == -1 && errno == ECHILD);
    signal(SIGCHLD, SIG_DFL);
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_NOCLDWAIT | SA_NOCLDSTOP };
    sigaction(SIGCHLD, &action, NULL);
    end_soon(1000, 0);
    while (wait(NULL) == -1 && errno == EINTR)
        ;
    CHECK(errno == ECHILD);
    CHECK(seen[SIGCHLD] == 1);
}

/* What was blocked, pending and ignored is so in the next image. */
static void executed(const char *self, const char *stage)
{
    if (stage == NULL) {
        signal(SIGHUP, SIG_IGN);
        signal(SIGUSR2, on_signal);
        block(SIGUSR1);
        raise(SIGUSR1);
        execl(self, self, "executed", "again", NULL);
        CHECK(0);
    }
    struct sigaction action;
    sigaction(SIGHUP, NULL, &action);
    CHECK(action.sa_handler == SIG_IGN);
    sigaction(SIGUSR2, NULL, &action);
    CHECK(action.sa_handler == SIG_DFL);
    CHECK(pending(SIGUSR1));
    raise(SIGHUP);
}

/* A wait with a mask of its own, which stands in constant memory. */
static const sigset_t none;

static void with_masks(void)
{
    signal(SIGALRM, on_signal);
    block(SIGALRM);
    for (int i = 1; i <= 20; i++) {
        ualarm(2000, 0);
        CHECK(pselect(0, NULL, NULL, NULL, &long_wait, &none) == -1 && errno == EINTR);
        CHECK(seen[SIGALRM] == i);
    }
    for (int i = 21; i <= 40; i++) {
        ualarm(2000, 0);
        CHECK(ppoll(NULL, 0, &long_wait, &none) == -1 && errno == EINTR);
        CHECK(seen[SIGALRM] == i);
    }
    CHECK(ppoll(NULL, 0, &now, &none) == 0);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "timed") == 0)
        timed();
    else if (strcmp(way, "queued") == 0)
        queued();
    else if (strcmp(way, "threads") == 0)
        threads();
    else if (strcmp(way, "descriptor") == 0)
        descriptor();
    else if (strcmp(way, "ignored") == 0)
        ignored();
    else if (strcmp(way, "executed") == 0)
        executed(argv[0], argc > 2 ? argv[2] : NULL);
    else if (strcmp(way, "masks") == 0)
        with_masks();
    else
        return 2;
    printf("%s: done\n", way);
    return 0;
}
