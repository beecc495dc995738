/* Where frames of signals are, and what becomes of those that have no room on an alternate stack: with what lies below it. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shared with a child that may die of it: a stack with something below, and what its handlers have seen. */
#define BELOW 32768
static struct shared {
    char below[BELOW], stack[BELOW];
    volatile int count;
    volatile long seen[8];
} *shared;

static char *from __attribute__((used)); /* that frames are counted from */
static volatile int deep;

/* It needs little of the stack. */
static void
on_signal(int sig, siginfo_t *info, void *context)
{
    char *c = context;
    int there = c > shared->below && c < shared->stack + BELOW;
    shared->seen[shared->count++] = sig * 100000 + (there ? from - c : 0);
    if (deep-- > 0)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
}

static void
on(int sig, int flags)
{
    struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_NODEFER | flags };
    sigaction(sig, &act, NULL);
}

/* Frames from this one's stack pointer: of a system call, and of an instruction that faults. */
static void __attribute__((noinline))
here(void)
{
    long pid = getpid(), tid = syscall(SYS_gettid), res;
    for (long i = 0; i < 64; i += 8) {
        __asm__ volatile("mov %%rsp, %%rbx\n\tsub $256, %%rsp\n\tand $-64, %%rsp\n\tsub %4, %%rsp\n\tmov %%rsp, from(%%rip)\n\t"
                         "syscall\n\tmov %%rbx, %%rsp"
                         : "=a"(res)
                         : "0"(SYS_tgkill), "D"(pid), "S"(tid), "r"(i), "d"(SIGILL)
                         : "rcx", "r11", "rbx", "memory");
        __asm__ volatile("mov %%rsp, %%rbx\n\tsub $256, %%rsp\n\tand $-64, %%rsp\n\tsub %0, %%rsp\n\tmov %%rsp, from(%%rip)\n\t"
                         "ud2\n\tmov %%rbx, %%rsp"
                         :
                         : "r"(i)
                         : "rbx", "memory");
    }
}

static void
on_illegal(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    long below = from - (char *)context, alone = (uintptr_t)from & 63;
    printf("%ld below one that ends with %ld\n", below, alone);
    if (info->si_code > 0)
        uc->uc_mcontext.gregs[REG_RIP] += 2;
}

static void
try(int size, int twice)
{
    int status, below = 0;
    memset(shared, 0x55, sizeof(*shared));
    memset((void *)shared->seen, 0, sizeof(shared->seen));
    shared->count = 0;
    pid_t child = fork();
    if (child == 0) {
        stack_t s = { .ss_sp = shared->stack, .ss_size = (size_t)size };
        if (sigaltstack(&s, NULL) != 0)
            _exit(2);
        from = shared->stack + size;
        deep = twice;
        on(SIGUSR1, SA_ONSTACK);
        on(SIGSEGV, 0);
        raise(SIGUSR1);
        _exit(3);
    }
    waitpid(child, &status, 0);
    for (int i = 0; i < BELOW; i++)
        below += shared->below[i] != 0x55;
    printf("%d: status %x, seen %ld %ld %ld, %s below\n", size, status, shared->seen[0], shared->seen[1], shared->seen[2],
           below > 0 ? "something" : "nothing");
    fflush(stdout);
}

int
main(void)
{
    struct sigaction ill = { .sa_sigaction = on_illegal, .sa_flags = SA_SIGINFO };
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGILL, &ill, NULL);
    here();
    fflush(stdout);
    for (int size = 2048; size < 30000; size += size < 2900 ? 200 : size < 3700 ? 20 : 1000)
        try(size, 0);
    for (int size = 5000; size < 30000; size += 500)
        try(size, 1);
    return 0;
}
