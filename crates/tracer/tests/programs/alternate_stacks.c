/* What the kernel says of alternate stacks, before, within and behind handlers that are on them, change them, or were begun with
 * SS_AUTODISARM; and handlers of overflows that are left by siglongjmp. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

#define SIZE 65536
static char first[SIZE], second[SIZE];

enum { LEAVES_IT, SETS_ANOTHER, FRAME_HAS_ANOTHER, FRAME_HAS_NONE, FRAME_HAS_TOO_SMALL, NESTED, DISABLES_IT, WAYS };
static int way;

static int
which(const void *at)
{
    const char *c = at;
    return c >= first && c < first + SIZE ? 1 : c >= second && c < second + SIZE ? 2 : 0;
}

static void
show(const char *when)
{
    stack_t now;
    sigaltstack(NULL, &now);
    printf("%s: flags %x, stack %d of %zu bytes\n", when, now.ss_flags, which(now.ss_sp), now.ss_size);
}

static void
set(char *stack, size_t size, unsigned flags)
{
    stack_t new = { .ss_sp = stack, .ss_size = size, .ss_flags = (int)flags };
    int res = sigaltstack(&new, NULL);
    printf("set %d of %zu with %x: %d, %s\n", which(stack), size, flags, res, res == 0 ? "" : strerror(errno));
}

static void
on_signal(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    stack_t other = { .ss_sp = second, .ss_size = SIZE };
    (void)info;
    show("in the handler");
    printf("on %d, its frame has %d with %x\n", which(&other), which(uc->uc_stack.ss_sp), uc->uc_stack.ss_flags);
    if (way == SETS_ANOTHER)
        set(second, SIZE, 0);
    else if (way == DISABLES_IT)
        set(second, SIZE, SS_DISABLE);
    else if (way == NESTED && sig == SIGUSR1)
        raise(SIGUSR2);
    else if (way == FRAME_HAS_NONE)
        uc->uc_stack.ss_flags = SS_DISABLE;
    else if (way == FRAME_HAS_ANOTHER || way == FRAME_HAS_TOO_SMALL) {
        uc->uc_stack = other;
        uc->uc_stack.ss_size = way == FRAME_HAS_ANOTHER ? SIZE : 10;
    }
}

static void
handlers(unsigned flags, int on_stack)
{
    struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | on_stack };
    sigaction(SIGUSR1, &act, NULL);
    sigaction(SIGUSR2, &act, NULL);
    for (way = 0; way < WAYS; way++) {
        printf("way %d\n", way);
        set(first, SIZE, flags);
        for (int i = 0; i < 2; i++) {
            raise(SIGUSR1);
            show("behind it");
        }
    }
}

static sigjmp_buf back;

static void
on_overflow(int sig)
{
    (void)sig;
    show("overflow");
    fflush(stdout);
    siglongjmp(back, 1);
}

static int __attribute__((noinline))
deeper(int n)
{
    volatile char frame[1024];
    frame[0] = (char)n;
    return deeper(n + 1) + frame[0];
}

/* The second ends a process whose first handler has not given back its stack. */
static void
overflows(unsigned flags)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct sigaction act = { .sa_handler = on_overflow, .sa_flags = SA_ONSTACK };
        sigaction(SIGSEGV, &act, NULL);
        set(first, SIZE, flags);
        for (volatile int i = 0; i < 3; i++) {
            if (sigsetjmp(back, 1) == 0)
                deeper(0);
        }
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("overflows: %x\n", status & 0x7f);
}

int
main(void)
{
    stack_t same = { .ss_sp = second, .ss_size = SIZE };
    handlers(0, SA_ONSTACK);
    handlers(SS_AUTODISARM, SA_ONSTACK);
    handlers(0, 0);
    handlers(SS_AUTODISARM, 0);
    set(first, SIZE, SS_ONSTACK | SS_AUTODISARM);
    stack_t *old = &same;
    printf("%d, ", sigaltstack(&same, old));
    printf("then %d\n", which(same.ss_sp));
    show("by the same structure");
    same.ss_size = 77;
    printf("%d, and", sigaltstack((void *)8, &same));
    printf(" %zu is left\n", same.ss_size);
    set(first, 10, 0);
    set(first, SIZE, 7);
    set(first, SIZE, SS_DISABLE | SS_AUTODISARM);
    show("disabled");
    overflows(0);
    overflows(SS_AUTODISARM);
    return 0;
}
