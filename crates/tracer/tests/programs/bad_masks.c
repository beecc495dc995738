/* Masks of signals, and what else calls about signals are given, where they cannot be read or written, or not whole, or have a wrong size. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TRY(...)                                                       \
    do {                                                               \
        errno = 0;                                                     \
        long returned = syscall(__VA_ARGS__);                          \
        printf("%s: %ld, %d\n", #__VA_ARGS__, returned, errno);        \
    } while (0)

typedef struct {
    void *mask;
    long size;
} sized_t;

int
main(void)
{
    int epoll = epoll_create(1);
    struct epoll_event event;
    struct timespec no_time = { 0, 0 };
    struct sigaction action;
    sigset_t mask;
    stack_t stack;
    void *bad = (void *)8, *beyond = (void *)0x800000000000;
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *edge = page + 4092;
    sized_t unreadable = { bad, 8 }, none = { NULL, 8 }, wrong = { bad, 4 };
    munmap(page + 4096, 4096);
    sigemptyset(&mask);
    TRY(SYS_epoll_pwait, epoll, &event, 1, 0, bad, 8);
    TRY(SYS_epoll_pwait, epoll, &event, 1, 0, edge, 8);
    TRY(SYS_epoll_pwait, epoll, &event, 1, 0, beyond, 8);
    TRY(SYS_epoll_pwait, -1, &event, 1, 0, bad, 8);
    TRY(SYS_epoll_pwait, epoll, &event, 1, 0, &mask, 4);
    TRY(SYS_ppoll, 0, 0, &no_time, bad, 8);
    TRY(SYS_ppoll, 0, 0, &no_time, &mask, 8);
    TRY(SYS_ppoll, 0, 0, bad, &mask, 8);
    TRY(SYS_ppoll, 0, 0, &no_time, &mask, 9);
    TRY(SYS_pselect6, 0, 0, 0, 0, &no_time, bad);
    TRY(SYS_pselect6, 0, 0, 0, 0, &no_time, edge);
    TRY(SYS_pselect6, 0, 0, 0, 0, &no_time, &unreadable);
    TRY(SYS_pselect6, 0, 0, 0, 0, &no_time, &none);
    TRY(SYS_pselect6, 0, 0, 0, 0, &no_time, &wrong);
    TRY(SYS_rt_sigsuspend, bad, 8);
    TRY(SYS_rt_sigsuspend, &mask, 4);
    TRY(SYS_rt_sigprocmask, SIG_BLOCK, bad, 0, 8);
    TRY(SYS_rt_sigprocmask, SIG_BLOCK, 0, bad, 8);
    TRY(SYS_rt_sigprocmask, SIG_SETMASK, edge, 0, 8);
    TRY(SYS_rt_sigprocmask, 77, &mask, 0, 8);
    TRY(SYS_rt_sigprocmask, SIG_BLOCK, &mask, 0, 4);
    TRY(SYS_rt_sigaction, SIGUSR1, bad, 0, 8);
    TRY(SYS_rt_sigaction, SIGUSR1, 0, bad, 8);
    TRY(SYS_rt_sigaction, SIGUSR1, edge, 0, 8);
    TRY(SYS_rt_sigaction, 65, 0, 0, 8);
    memset(&action, 0, sizeof(action));
    TRY(SYS_rt_sigaction, SIGKILL, &action, 0, 8);
    TRY(SYS_sigaltstack, bad, 0);
    TRY(SYS_sigaltstack, 0, bad);
    TRY(SYS_sigaltstack, edge, 0);
    memset(&stack, 0, sizeof(stack));
    stack.ss_sp = page;
    stack.ss_size = 1;
    TRY(SYS_sigaltstack, &stack, 0);
    TRY(SYS_rt_sigpending, bad, 8);
    TRY(SYS_rt_sigpending, &mask, 9);
    TRY(SYS_rt_sigtimedwait, bad, 0, &no_time, 8);
    TRY(SYS_rt_sigtimedwait, &mask, 0, bad, 8);
    TRY(SYS_rt_sigtimedwait, &mask, bad, &no_time, 8);
    TRY(SYS_signalfd4, -1, bad, 8, 0);
    TRY(SYS_signalfd4, -1, &mask, 4, 0);
    TRY(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, bad);
    return 0;
}
