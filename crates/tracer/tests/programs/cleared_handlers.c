/* Children that begin without their parent's handlers, as glibc's posix_spawn() makes them. */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_CLEAR_SIGHAND
#    define CLONE_CLEAR_SIGHAND 0x100000000ull
#endif

static void
handled(int signal)
{
    _exit(77);
}

static int
handler_is(int signal, void (*handler)(int))
{
    struct sigaction action;
    sigaction(signal, NULL, &action);
    return action.sa_handler == handler;
}

/* Bits that say what is as it should be. */
static int
found(void)
{
    return handler_is(SIGUSR1, SIG_DFL) | handler_is(SIGSEGV, SIG_DFL) << 1 |
        handler_is(SIGUSR2, SIG_IGN) << 2;
}

static volatile int *volatile nowhere;

static int
asked(void *what)
{
    switch ((intptr_t)what) {
    case 0: return found();
    case 1: raise(SIGUSR1); return 0;
    case 2: *nowhere = 1; return 0;
    case 3: raise(SIGUSR2); return 3;
    /* The engine's own faults: it reads what is not there. */
    case 4: return syscall(SYS_rt_sigaction, SIGHUP, (void *)8, NULL, 8) == -1 ? 4 : 0;
    default:
        signal(SIGUSR1, handled);
        raise(SIGUSR1);
        return 0;
    }
}

int
main(void)
{
    signal(SIGUSR1, handled);
    signal(SIGSEGV, handled);
    signal(SIGUSR2, SIG_IGN);
    static char stack[1 << 16] __attribute__((aligned(16)));
    for (intptr_t shared = 0; shared < 2; shared++)
        for (intptr_t what = 0; what < 6; what++) {
            /* Killed while it shares its parent's memory: another matter (killed_sharers.c). */
            if (shared && (what == 1 || what == 2))
                continue;
            struct clone_args args = { .flags = CLONE_CLEAR_SIGHAND, .exit_signal = SIGCHLD };
            if (shared) {
                args.flags |= CLONE_VM | CLONE_VFORK;
                args.stack = (uintptr_t)stack;
                args.stack_size = sizeof(stack);
            }
            long child;
            /* The child has an empty stack where it has one of its own. */
            __asm__ volatile("syscall\n"
                             "test %%rax, %%rax\n"
                             "jnz 1f\n"
                             "mov %[what], %%rdi\n"
                             "and $-16, %%rsp\n"
                             "call *%[asked]\n"
                             "mov %%eax, %%edi\n"
                             "mov $231, %%eax\n"
                             "syscall\n"
                             "1:"
                             : "=a"(child)
                             : "a"(SYS_clone3), "D"(&args), "S"(sizeof(args)),
                               [what] "r"(what), [asked] "r"(asked)
                             : "rcx", "r11", "memory", "cc");
            if (child < 0) {
                printf("this kernel has no such children\n");
                return 0;
            }
            int status = 0;
            waitpid(child, &status, 0);
            printf("%ld %ld: %x\n", (long)shared, (long)what, status);
        }
    return 0;
}
