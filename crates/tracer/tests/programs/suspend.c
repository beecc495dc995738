/* Signals that arrive while they are blocked and are waited for with another mask: each ends the
 * wait, once. The argument says which way. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t seen[65];

static void on_signal(int signal)
{
    seen[signal]++;
}

static void check(int holds, const char *what)
{
    if (!holds) {
        printf("not: %s\n", what);
        fflush(stdout);
        _exit(1);
    }
}

#define CHECK(condition) check(condition, #condition)

static sigset_t only(int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return set;
}

static void handle_and_block(int signal)
{
    struct sigaction action = { .sa_handler = on_signal };
    sigset_t set = only(signal);
    sigaction(signal, &action, NULL);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static int blocked(int signal)
{
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, signal);
}

static const sigset_t none;

/* Twice the same signal is one. The mask is constant. */
static void once(void)
{
    handle_and_block(SIGALRM);
    for (int i = 1; i <= 100; i++) {
        raise(SIGALRM);
        raise(SIGALRM);
        CHECK(seen[SIGALRM] == i - 1);
        CHECK(sigsuspend(&none) == -1 && errno == EINTR);
        CHECK(seen[SIGALRM] == i);
        CHECK(blocked(SIGALRM));
    }
    sigset_t set = only(SIGALRM);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    CHECK(seen[SIGALRM] == 100);
}

/* What the mask blocks, or would do nothing, waits on: the timer's signal is the one that ends it. */
static void others(void)
{
    handle_and_block(SIGUSR1);
    handle_and_block(SIGALRM);
    sigset_t set = only(SIGURG);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    set = only(SIGUSR1);
    sigaddset(&set, SIGURG);
    for (int i = 1; i <= 5; i++) {
        ualarm(10000, 0);
        CHECK(sigsuspend(&set) == -1 && errno == EINTR);
        CHECK(sigismember(&set, SIGUSR1) && !sigismember(&set, SIGALRM));
        CHECK(seen[SIGALRM] == i && seen[SIGUSR1] == 0);
        CHECK(blocked(SIGUSR1) && blocked(SIGALRM));
    }
    CHECK(sigsuspend(&none) == -1 && errno == EINTR);
    CHECK(seen[SIGALRM] == 5 && seen[SIGUSR1] == 1);
}

/* A signal each may come before, while, or after the program begins to wait. */
static void children(void)
{
    handle_and_block(SIGCHLD);
    for (int i = 0; i < 1000; i++) {
        int before = seen[SIGCHLD];
        pid_t child = fork();
        if (child == 0) {
            if (i % 2 != 0)
                usleep(i % 100 * 10);
            _exit(0);
        }
        if (i % 3 == 0) {
            siginfo_t info;
            waitid(P_PID, child, &info, WEXITED | WNOWAIT);
        }
        while (seen[SIGCHLD] == before)
            CHECK(sigsuspend(&none) == -1 && errno == EINTR);
        CHECK(waitpid(child, NULL, 0) == child);
        CHECK(seen[SIGCHLD] == before + 1);
    }
}

/* Signals of another process that come at any moment. */
static void storm(void)
{
    handle_and_block(SIGUSR1);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        handle_and_block(SIGUSR2);
        sigset_t set = only(SIGUSR1);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        for (int i = 1; i <= 3000; i++) {
            kill(parent, SIGUSR1);
            while (seen[SIGUSR2] < i)
                sigsuspend(&none);
        }
        _exit(0);
    }
    for (int i = 1; i <= 3000; i++) {
        while (seen[SIGUSR1] < i)
            sigsuspend(&none);
        CHECK(seen[SIGUSR1] == i);
        kill(child, SIGUSR2);
    }
    CHECK(waitpid(child, NULL, 0) == child);
}

/* Calls that take a mask along. */
static void polls(void)
{
    handle_and_block(SIGALRM);
    struct timespec limit = { 20, 0 };
    struct epoll_event event;
    int epoll = epoll_create1(0);
    for (int i = 0; i < 100; i++) {
        raise(SIGALRM);
        CHECK(ppoll(NULL, 0, &limit, &none) == -1 && errno == EINTR);
        CHECK(seen[SIGALRM] == 3 * i + 1 && blocked(SIGALRM));
        raise(SIGALRM);
        CHECK(pselect(0, NULL, NULL, NULL, &limit, &none) == -1 && errno == EINTR);
        CHECK(seen[SIGALRM] == 3 * i + 2 && blocked(SIGALRM));
        raise(SIGALRM);
        CHECK(epoll_pwait(epoll, &event, 1, 20000, &none) == -1 && errno == EINTR);
        CHECK(seen[SIGALRM] == 3 * i + 3 && blocked(SIGALRM));
    }
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "once") == 0)
        once();
    else if (strcmp(way, "others") == 0)
        others();
    else if (strcmp(way, "children") == 0)
        children();
    else if (strcmp(way, "storm") == 0)
        storm();
    else if (strcmp(way, "polls") == 0)
        polls();
    else
        return 2;
    printf("%s: done\n", way);
    return 0;
}
