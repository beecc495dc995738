/* System calls whose results lie on a page of code that has run. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RESULTS (code + 512)

static uint8_t *code;
static int calls;

/* mov $VALUE, %eax; ret, written and run */
static int
constant(int value)
{
    uint8_t made[] = { 0xb8, 0, 0, 0, 0, 0xc3 };
    memcpy(made + 1, &value, sizeof(value));
    memcpy(code, made, sizeof(made));
    return ((int (*)(void))code)();
}

static void
tell(const char *call, long result)
{
    int error = result < 0 ? errno : 0;
    calls++;
    printf("%s: %s, code %s\n", call, strerror(error), constant(calls) == calls ? "runs" : "wrong");
}

static void
files(int from, int to)
{
    struct iovec parts[] = { { RESULTS, 5 }, { RESULTS + 100, 5 } };
    struct iovec there = { (char *)"remote", 6 }, here = { RESULTS, 6 };
    write(to, "some bytes that are read", 24);
    tell("readv", readv(from, parts, 2));
    printf("%.5s|%.5s\n", RESULTS, RESULTS + 100);
    tell("ioctl", ioctl(from, FIONREAD, RESULTS));
    printf("%d\n", *(int *)RESULTS);
    tell("fstat", fstat(from, (struct stat *)RESULTS));
    tell("statx", syscall(SYS_statx, AT_FDCWD, "/", 0, 0xfff, RESULTS));
    tell("getcwd", syscall(SYS_getcwd, RESULTS, 2048));
    tell("process_vm_readv", process_vm_readv(getpid(), &here, 1, &there, 1, 0));
    printf("%.6s\n", RESULTS);
}

static void
waits(int from)
{
    struct pollfd *polled = (struct pollfd *)RESULTS;
    *polled = (struct pollfd){ .fd = from, .events = POLLIN };
    tell("poll", poll(polled, 1, 1000));
    printf("%x\n", polled->revents);
    int epoll = epoll_create1(0);
    struct epoll_event event = { .events = EPOLLIN };
    epoll_ctl(epoll, EPOLL_CTL_ADD, from, &event);
    tell("epoll_wait", epoll_wait(epoll, (struct epoll_event *)RESULTS, 4, 1000));
    for (int i = 3; i < 5; i++) {
        if (fork() == 0)
            _exit(i);
        if (i == 3)
            tell("wait4", syscall(SYS_wait4, -1, RESULTS, 0, RESULTS + 64));
        else
            tell("waitid", syscall(SYS_waitid, P_ALL, 0, RESULTS, WEXITED, NULL));
    }
    int *word = (int *)RESULTS;
    *word = 5;
    tell("futex", syscall(SYS_futex, word, FUTEX_WAKE_OP, 1, 0, word,
                          FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0)));
    printf("%d\n", *word);
}

static void
messages(void)
{
    tell("socketpair", syscall(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, RESULTS));
    int ends[2];
    memcpy(ends, RESULTS, sizeof(ends));
    send(ends[0], "one", 4, 0);
    send(ends[0], "two", 4, 0);
    struct iovec into = { RESULTS, 8 };
    struct msghdr message = { .msg_iov = &into, .msg_iovlen = 1 };
    tell("recvmsg", recvmsg(ends[1], &message, 0));
    struct mmsghdr several = { .msg_hdr = message };
    into.iov_base = RESULTS + 8;
    tell("recvmmsg", recvmmsg(ends[1], &several, 1, 0, NULL));
    printf("%s %s\n", RESULTS, RESULTS + 8);
    *(socklen_t *)RESULTS = 4;
    tell("getsockopt",
         getsockopt(ends[0], SOL_SOCKET, SO_TYPE, RESULTS + 16, (socklen_t *)RESULTS));
}

static void
times_and_signals(void)
{
    tell("clock_gettime", syscall(SYS_clock_gettime, CLOCK_MONOTONIC, RESULTS));
    tell("uname", uname((struct utsname *)RESULTS));
    tell("getrusage", getrusage(RUSAGE_SELF, (struct rusage *)RESULTS));
    tell("rt_sigaction", syscall(SYS_rt_sigaction, SIGUSR1, NULL, RESULTS, 8));
    tell("rt_sigprocmask", syscall(SYS_rt_sigprocmask, 0, NULL, RESULTS, 8));
    tell("rt_sigpending", syscall(SYS_rt_sigpending, RESULTS, 8));
    tell("sigaltstack", syscall(SYS_sigaltstack, NULL, RESULTS));
}

static void
faulted(int signal)
{
    static const char message[] = "what was emptied is no code\n";
    write(1, message, sizeof(message) - 1);
    _exit(0);
}

int
main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    constant(0);
    tell("pipe", syscall(SYS_pipe, RESULTS));
    int ends[2];
    memcpy(ends, RESULTS, sizeof(ends));
    files(ends[0], ends[1]);
    waits(ends[0]);
    messages();
    times_and_signals();
    signal(SIGSEGV, faulted);
    madvise(code, 4096, MADV_DONTNEED);
    /* add %al, (%rax), of nothing */
    __asm__ volatile("call *%1" : : "a"(0L), "r"(code) : "memory", "cc");
    return 1;
}
