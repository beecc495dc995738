/* Handlers that jump out, that repair the cause and return, that run on a stack of their own; timer
 * signals in a busy loop; a signal from another thread. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf back;
static char *page;
static volatile sig_atomic_t alarms, told, on_own_stack;
static char own_stack[65536];

static void jump_out(int signal)
{
    siglongjmp(back, signal);
}

static void repair(int signal, siginfo_t *info, void *context)
{
    char here;
    on_own_stack = &here >= own_stack && &here < own_stack + sizeof(own_stack);
    if (info->si_addr < (void *)page || info->si_addr >= (void *)(page + 4096))
        _exit(9);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void step_over(int signal, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    uc->uc_mcontext.gregs[REG_RIP] += 2; /* ud2 */
}

static void on_alarm(int signal)
{
    alarms++;
}

static void on_told(int signal)
{
    told = 1;
}

static void *tell(void *thread)
{
    pthread_kill(*(pthread_t *)thread, SIGUSR1);
    return NULL;
}

static void install(int signal, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = flags };
    sigaction(signal, &action, NULL);
}

int main(void)
{
    for (int i = 0; i < 100; i++) {
        signal(SIGSEGV, jump_out);
        if (sigsetjmp(back, 1) == 0)
            *(volatile int *)(uintptr_t)(8 + 16 * i) = 1;
        else if (i == 99)
            puts("jumped out");
    }

    stack_t stack = { .ss_sp = own_stack, .ss_size = sizeof(own_stack) };
    sigaltstack(&stack, NULL);
    install(SIGSEGV, repair, SA_SIGINFO | SA_ONSTACK);
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 50; i++) {
        mprotect(page, 4096, PROT_NONE);
        page[i] = (char)i;
        memset(page + 100, i, 200);
    }
    printf("repaired %d %d %d\n", page[49], page[150], on_own_stack);

    install(SIGILL, step_over, SA_SIGINFO);
    __asm__ volatile("ud2");
    puts("stepped over");

    signal(SIGALRM, on_alarm);
    struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { { 0, 0 }, { 0, 0 } };
    setitimer(ITIMER_REAL, &often, NULL);
    volatile uint64_t sum = 0;
    while (alarms < 20)
        sum += sum * 3 + 1;
    setitimer(ITIMER_REAL, &never, NULL);
    puts("alarmed");

    signal(SIGUSR1, on_told);
    pthread_t self = pthread_self(), other;
    pthread_create(&other, NULL, tell, &self);
    while (!told)
        usleep(100);
    pthread_join(other, NULL);
    puts("told");
    fflush(stdout);
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
    return 0;
}
