/* A handler finds the direction flag clear, whatever was interrupted, and what was interrupted
 * finds it as it left it. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define DIRECTION 0x400ul

static volatile unsigned long in_handler, interrupted;
static volatile int handled;
static char *page;

static unsigned long flags(void)
{
    unsigned long value;
    __asm__ volatile("pushfq; popq %0" : "=r"(value));
    return value;
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    (void)info;
    in_handler = flags();
    interrupted = (unsigned long)((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
    if (signal == SIGSEGV)
        mprotect(page, 4096, PROT_READ | PROT_WRITE);
    handled++;
}

static void report(const char *what, unsigned long after)
{
    printf("%s: handler %lx, interrupted %lx, after %lx\n", what, in_handler & DIRECTION,
           interrupted & DIRECTION, after & DIRECTION);
}

int main(void)
{
    unsigned long after;
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);

    /* A fault. */
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    __asm__ volatile("std; movb $1, (%1); pushfq; popq %0; cld" : "=r"(after) : "r"(page) : "memory");
    report("fault", after);

    /* Any moment. */
    struct itimerval soon = { .it_value = { 0, 20000 } };
    int before = handled;
    setitimer(ITIMER_REAL, &soon, NULL);
    __asm__ volatile("std; 1: cmpl %2, %1; je 1b; pushfq; popq %0; cld"
                     : "=r"(after) : "m"(handled), "r"(before) : "memory");
    report("timer", after);

    /* A system call. */
    long number = 39, pid;
    __asm__ volatile("syscall" : "=a"(pid) : "a"(number) : "rcx", "r11", "memory");
    register long signal __asm__("rsi") = SIGUSR1;
    number = 62;
    __asm__ volatile("std; syscall; pushfq; popq %0; cld"
                     : "=r"(after), "+a"(number) : "D"(pid), "r"(signal) : "rcx", "r11", "memory");
    report("call", after);
    return 0;
}
