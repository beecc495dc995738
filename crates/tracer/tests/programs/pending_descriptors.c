/* Signals that faults raise, sent while they are blocked: read from descriptors that were made before and behind, waited for there,
 * taken by a thread that waits for all, and shown by /proc. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static sigset_t all;

static void
show(const char *when, const char *file)
{
    char line[256];
    FILE *status = fopen(file, "r");
    printf("%s:", when);
    while (fgets(line, sizeof(line), status) != NULL) {
        if (strncmp(line, "SigPnd:", 7) == 0 || strncmp(line, "ShdPnd:", 7) == 0)
            printf(" %.*s", (int)strcspn(line, "\n"), line);
    }
    fclose(status);
    printf("\n");
}

static void
show_both(const char *when)
{
    char file[64];
    FILE *stat = fopen("/proc/self/stat", "r");
    unsigned long pending = 0, blocked = 0;
    show(when, "/proc/self/status");
    snprintf(file, sizeof(file), "/proc/%d/task/%d/status", getpid(), gettid());
    show(when, file);
    if (fscanf(stat, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %*u %*u %*d %*u %*u "
                     "%*u %*u %*u %*u %lu %lu",
               &pending, &blocked) == 2)
        printf("%s: %#lx, %#lx\n", when, pending, blocked);
    fclose(stat);
}

static void
take(const char *how, int descriptor)
{
    struct signalfd_siginfo info;
    ssize_t got = read(descriptor, &info, sizeof(info));
    if (got == sizeof(info))
        printf("%s: %u, code %d, of %s\n", how, info.ssi_signo, info.ssi_code,
               info.ssi_pid == (unsigned int)getpid() ? "itself" : "another");
    else
        printf("%s: %zd\n", how, got);
}

static pid_t
sends_later(int signal)
{
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        usleep(50000);
        kill(parent, signal);
        _exit(0);
    }
    return child;
}

static volatile pid_t waiter;
static volatile int taken;

static void *
waits(void *none)
{
    waiter = gettid();
    for (int i = 0; i < 3; i++) {
        int signal = 0;
        sigwait(&all, &signal);
        printf("the thread took %d\n", signal);
        taken++;
    }
    return none;
}

/* Until the thread is in the kernel, waiting (rt_sigtimedwait). */
static void
wait_for_waiter(void)
{
    char file[64], call[8] = "";
    while (strncmp(call, "128 ", 4) != 0) {
        usleep(1000);
        snprintf(file, sizeof(file), "/proc/self/task/%d/syscall", waiter);
        FILE *now = fopen(file, "r");
        if (now != NULL) {
            if (fgets(call, sizeof(call), now) == NULL)
                call[0] = '\0';
            fclose(now);
        }
    }
}

int
main(void)
{
    struct epoll_event event = { .events = EPOLLIN };
    setvbuf(stdout, NULL, _IONBF, 0);
    sigfillset(&all);
    sigdelset(&all, SIGCHLD);
    sigprocmask(SIG_BLOCK, &all, NULL);
    int before = signalfd(-1, &all, SFD_NONBLOCK);
    show_both("at first");
    kill(getpid(), SIGSEGV);
    raise(SIGILL);
    kill(getpid(), SIGUSR1);
    raise(SIGUSR2);
    show_both("sent");
    int behind = signalfd(-1, &all, SFD_NONBLOCK);
    struct pollfd ready = { .fd = behind, .events = POLLIN };
    printf("ready %d\n", poll(&ready, 1, 0));
    for (int i = 0; i < 3; i++)
        take("behind", behind);
    take("before", before);
    take("before", before);
    show_both("taken");
    for (int i = 0; i < 4; i++) {
        static const int faults[] = { SIGBUS, SIGILL, SIGTRAP, SIGFPE };
        pid_t child = sends_later(faults[i]);
        if (i == 0)
            printf("ready %d\n", poll(&ready, 1, 20000));
        else if (i == 1) {
            int epoll = epoll_create1(0);
            epoll_ctl(epoll, EPOLL_CTL_ADD, before, &event);
            printf("ready %d\n", epoll_wait(epoll, &event, 1, 20000));
            close(epoll);
        } else {
            int waits = signalfd(-1, &all, 0);
            take("waited", waits);
            close(waits);
        }
        take("then", before);
        waitpid(child, NULL, 0);
    }
    pthread_t thread;
    pthread_create(&thread, NULL, waits, NULL);
    static const int waited[] = { SIGSEGV, SIGILL, SIGUSR1 };
    for (int i = 0; i < 3; i++) {
        wait_for_waiter();
        kill(getpid(), waited[i]);
        while (taken <= i)
            usleep(1000);
    }
    pthread_join(thread, NULL);
    show_both("at last");
    return 0;
}
