/* A handler finds the floating-point units as a fresh process does, whatever was interrupted, and what
 * was interrupted finds them as it left them. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

typedef struct {
    uint32_t mxcsr;
    uint16_t control, status, tags;
    uint64_t vectors;
} units_t;

static volatile int handled;
static units_t in_handler;
static char *page;

static inline __attribute__((always_inline)) void
look(units_t *u)
{
    struct { uint32_t words[7]; } environment;
    uint64_t a, b;
    __asm__ volatile("movq %%xmm5, %0; movq %%xmm15, %1" : "=r"(a), "=r"(b));
    __asm__ volatile("stmxcsr %0" : "=m"(u->mxcsr));
    __asm__ volatile("fnstenv %0; fldenv %0" : "=m"(environment));
    u->control = (uint16_t)environment.words[0];
    u->status = (uint16_t)environment.words[1];
    u->tags = (uint16_t)environment.words[2];
    u->vectors = a | b;
}

static void
on_signal(int signal, siginfo_t *info, void *context)
{
    look(&in_handler);
    if (signal == SIGSEGV)
        mprotect(page, 4096, PROT_READ | PROT_WRITE);
    /* It may leave them as it likes. */
    uint32_t mxcsr = 0x5f80;
    __asm__ volatile("fninit; fld1; fchs; ldmxcsr %0; pcmpeqd %%xmm5, %%xmm5" : : "m"(mxcsr) : "xmm5");
    handled++;
}

static void
print(const char *what, const units_t *u)
{
    printf(" %s %x %x %x %x %llx;", what, u->mxcsr, u->control, u->status, u->tags,
           (unsigned long long)u->vectors);
}

/* Rounding up, towards zero; an x87 exception that nobody has looked at. */
#define UNUSUAL                                                                                     \
    "ldmxcsr %[m]; fninit; fldcw %[c]; fchs; fldpi; movq %[v], %%xmm5; movq %[v], %%xmm15;"
#define VALUES [m] "m"(mxcsr), [c] "m"(control), [v] "r"(0x1122334455667788ull)

int
main(void)
{
    uint32_t mxcsr = 0x5fa0;
    uint16_t control = 0xf7f;
    units_t after;
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);

    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    __asm__ volatile(UNUSUAL "movb $1, (%[p])" : : VALUES, [p] "r"(page) : "memory", "xmm5", "xmm15");
    look(&after);
    printf("fault:");
    print("handler", &in_handler);
    print("after", &after);

    struct itimerval soon = { .it_value = { 0, 20000 } };
    int before = handled;
    setitimer(ITIMER_REAL, &soon, NULL);
    __asm__ volatile(UNUSUAL "1: cmpl %[b], %[h]; je 1b"
                     : : VALUES, [h] "m"(handled), [b] "r"(before) : "memory", "xmm5", "xmm15");
    look(&after);
    printf("\ntimer:");
    print("handler", &in_handler);
    print("after", &after);

    long number = 62, pid = getpid();
    register long signal __asm__("rsi") = SIGUSR1;
    __asm__ volatile(UNUSUAL "syscall"
                     : "+a"(number) : VALUES, "D"(pid), "r"(signal) : "rcx", "r11", "memory", "xmm5", "xmm15");
    look(&after);
    printf("\ncall:");
    print("handler", &in_handler);
    print("after", &after);
    printf("\n");
    return 0;
}
