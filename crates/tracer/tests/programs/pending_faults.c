/* Signals that faults raise, sent while they are blocked: looked for, taken, waited for, and handled at the end. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static const int sent[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGUSR1 };
enum { SENT = sizeof(sent) / sizeof(sent[0]) };

static void
handler(int signal, siginfo_t *info, void *context)
{
    printf("handled %d code %d\n", signal, info->si_code);
}

static void
look(const char *when)
{
    sigset_t pending;
    sigpending(&pending);
    printf("%s:", when);
    for (int i = 1; i < 32; i++) {
        if (sigismember(&pending, i))
            printf(" %d", i);
    }
    printf("\n");
}

static sigset_t
only(int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return set;
}

/* A fault that is handled, between: the engine still sees those. */
static volatile int faulted;

static void
skips(int signal, siginfo_t *info, void *context)
{
    faulted++;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

static void
fault(void)
{
    struct sigaction before, action = { .sa_sigaction = skips, .sa_flags = SA_SIGINFO };
    sigset_t set = only(SIGSEGV), old;
    sigaction(SIGSEGV, &action, &before);
    sigprocmask(SIG_UNBLOCK, &set, &old);
    __asm__ volatile("xor %%eax, %%eax\n mov (%%rax), %%eax" : : : "rax");
    sigprocmask(SIG_SETMASK, &old, NULL);
    sigaction(SIGSEGV, &before, NULL);
}

int
main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    sigset_t all, before;
    siginfo_t info;
    struct timespec now = { 0, 0 }, long_wait = { 20, 0 };
    sigfillset(&all);
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO, .sa_mask = all };
    for (int i = 0; i < SENT; i++)
        sigaction(sent[i], &action, NULL);
    sigprocmask(SIG_BLOCK, &all, &before);
    look("first");
    for (int i = 0; i < SENT; i++)
        kill(getpid(), sent[i]);
    look("sent");
    look("again");
    for (int i = 0; i < SENT; i++) {
        sigset_t set = only(sent[i]);
        int got = sigtimedwait(&set, &info, &now);
        printf("took %d code %d of %d\n", got, info.si_code, info.si_pid == getpid());
    }
    look("taken");
    fault();
    printf("faults %d\n", faulted);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        usleep(20000);
        kill(parent, SIGBUS);
        _exit(0);
    }
    sigset_t set = only(SIGBUS);
    int got = sigtimedwait(&set, &info, &long_wait);
    printf("waited for %d of %d\n", got, info.si_pid == child);
    waitpid(child, NULL, 0);
    kill(getpid(), SIGILL);
    kill(getpid(), SIGFPE);
    look("left");
    set = only(SIGFPE);
    printf("took %d\n", sigtimedwait(&set, &info, &now));
    set = only(SIGILL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    look("end");
    return 0;
}
