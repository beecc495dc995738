/* What a handler finds of earlier faults in the frame of a signal that was sent, and what is kept of an action's flags. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf behind;
static char *page;

static void
tells(int sig, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    greg_t *regs = u->uc_mcontext.gregs;
    printf("signal %d code %d: stack flags %x, error %llx, trap %llx, at %lld\n", sig, info->si_code, u->uc_stack.ss_flags,
           regs[REG_ERR], regs[REG_TRAPNO], regs[REG_CR2] == 0 ? 0 : regs[REG_CR2] - (long long)page + 1);
    fflush(stdout);
    if (info->si_code > 0)
        siglongjmp(behind, 1);
}

static void
all_are_sent(void)
{
    raise(SIGUSR1);
    raise(SIGSEGV);
    raise(SIGFPE);
    sigqueue(getpid(), SIGRTMIN, (union sigval) { 0 });
}

static void *
sends(void *nothing)
{
    raise(SIGUSR1);
    return nothing;
}

static void
tell_flags(unsigned long flags)
{
    struct { void *handler; unsigned long flags; void *restorer, *mask; } action = { tells, flags, tells, 0 };
    syscall(SYS_rt_sigaction, SIGUSR2, &action, NULL, 8);
    syscall(SYS_rt_sigaction, SIGUSR2, NULL, &action, 8);
    printf("flags %lx are %lx\n", flags, action.flags);
}

int
main(void)
{
    struct sigaction action = { .sa_sigaction = tells, .sa_flags = SA_SIGINFO | SA_NODEFER };
    int signals[] = { SIGUSR1, SIGSEGV, SIGFPE, SIGILL, SIGRTMIN };
    pthread_t thread;
    stack_t none = { .ss_flags = SS_DISABLE };
    page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        sigaction(signals[i], &action, NULL);
    all_are_sent();
    if (sigsetjmp(behind, 1) == 0)
        page[42] = 1;
    all_are_sent();
    if (sigsetjmp(behind, 1) == 0)
        __asm__ volatile("ud2");
    all_are_sent();
    pthread_create(&thread, NULL, sends, NULL);
    pthread_join(thread, NULL);
    if (fork() == 0) {
        all_are_sent();
        _exit(0);
    }
    wait(NULL);
    sigaltstack(&none, NULL);
    raise(SIGUSR1);
    tell_flags(SA_SIGINFO | 0x04000000);
    tell_flags(SA_RESTART | 0x04000000 | 0x400 | 0x800 | 0x20000000);
    tell_flags(0xffffffffffffffff);
    return 0;
}
