// Threads that a signal of the C library's own (33, with which musl cancels and glibc changes the user of all threads) is sent
// to before they have executed anything. Each waits until it has come.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 300, KEPT = 33 };

struct kernel_sigaction {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

static atomic_int handled;
static char stacks[2][65536] __attribute__((aligned(64)));

__asm__(".text\n"
        "back: mov $15, %eax\n"
        "syscall\n");
extern void back(void);

// The thread has the first one's TLS, so it leaves the C library alone.
static long call(long number)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number) : "rcx", "r11", "memory");
    return result;
}

static void handler(int signal)
{
    (void)signal;
    atomic_fetch_add(&handled, 1);
}

static int thread(void *wanted)
{
    while (atomic_load(&handled) < (int)(long)wanted)
        call(SYS_sched_yield);
    return 0;
}

int main(void)
{
    struct kernel_sigaction action = { handler, SA_RESTART | 0x04000000 /* has a restorer */, back, 0 };
    if (syscall(SYS_rt_sigaction, KEPT, &action, NULL, 8) != 0)
        return perror("rt_sigaction"), 1;
    for (long i = 1; i <= THREADS; i++) {
        pid_t running = 1;
        int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
        int id = clone(thread, stacks[i % 2] + sizeof(stacks[0]), flags, (void *)i, NULL, NULL, &running);
        if (id < 0)
            return perror("clone"), 1;
        if (syscall(SYS_tgkill, getpid(), id, KEPT) != 0)
            return perror("tgkill"), 1;
        while (__atomic_load_n(&running, __ATOMIC_ACQUIRE) != 0)
            sched_yield();
    }
    printf("%d\n", atomic_load(&handled));
    return 0;
}
