/* Threads and processes that begin with a base of FS of their own, null among them: each asks the kernel for it. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char stack[65536] __attribute__((aligned(16)));
static volatile int thread;
/* What the child found, in memory that processes share. */
static unsigned long *base;

/* The child uses nothing but registers: the C library needs its own base. */
static long
make(unsigned long flags, unsigned long tls, int by_arguments)
{
    struct clone_args arguments;
    memset(&arguments, 0, sizeof(arguments));
    arguments.flags = flags & ~0xfful;
    arguments.exit_signal = flags & 0xff;
    arguments.stack = (unsigned long)stack;
    arguments.stack_size = sizeof(stack);
    arguments.tls = tls;
    arguments.child_tid = (unsigned long)&thread;
    unsigned long first = by_arguments ? (unsigned long)&arguments : flags;
    unsigned long second = by_arguments ? sizeof(arguments) : (unsigned long)(stack + sizeof(stack));
    register unsigned long third __asm__("rdx") = 0;
    register void *fourth __asm__("r10") = (void *)&thread;
    register unsigned long fifth __asm__("r8") = tls;
    register unsigned long *kept __asm__("r9") = base;
    long made = by_arguments ? SYS_clone3 : SYS_clone;
    __asm__ volatile("syscall\n"
                     "test %%rax, %%rax\n"
                     "jnz 1f\n"
                     "mov %[prctl], %%eax\n"
                     "mov %[get], %%edi\n"
                     "mov %%r9, %%rsi\n"
                     "syscall\n"
                     "mov $7, %%edi\n"
                     "mov %[exit], %%eax\n"
                     "syscall\n"
                     "1:"
                     : "+a"(made)
                     : "D"(first), "S"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(kept),
                       [prctl] "i"(SYS_arch_prctl), [get] "i"(ARCH_GET_FS), [exit] "i"(SYS_exit)
                     : "rcx", "r11", "memory");
    return made;
}

int
main(void)
{
    static const unsigned long ways[] = {
        SIGCHLD,
        CLONE_VM | SIGCHLD,
        CLONE_VM | CLONE_VFORK | SIGCHLD,
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID,
    };
    static const unsigned long bases[] = { 0, 0x1234, 0x7fffffffe000 };
    base = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 24; i++) {
        unsigned long flags = ways[i / 6];
        *base = 99;
        thread = 1;
        long made = make(flags | CLONE_SETTLS, bases[i % 3], i / 3 % 2);
        int status = 0;
        if (made > 0 && (flags & SIGCHLD))
            waitpid(made, &status, 0);
        while (made > 0 && !(flags & SIGCHLD) && thread)
            usleep(100);
        printf("%d: %d, %x, %lx\n", i, made > 0, status, *base);
        fflush(stdout);
    }
    return 0;
}
