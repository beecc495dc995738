/* Frames through which a handler returns while their memory cannot be written, or not be read: the kernel only reads them, and raises
 * SIGSEGV where it cannot. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 8, ROOM = PAGES * PAGE, CONTEXT = 304, STEP = 176, MAGIC1 = 0x46505853 };

static char *room, *stack_of_fault;
static volatile char *alternate;
static volatile int first_closed, closed, protection, context_at, state_at, without_state, legacy_only;
static char before[ROOM];
static sigjmp_buf back;
static int has_avx512;
static volatile int usual, faults, at_call, nowhere, value;
static volatile uint64_t mask_of_fault;

extern const char behind_return[];

/* No function: nothing of the stack is read after the pages are closed. */
static void
return_through(void *context, void *pages, size_t size, int allowed)
{
    register long rdi __asm__("rdi") = (long)pages, rsi __asm__("rsi") = (long)size, rdx __asm__("rdx") = allowed;
    __asm__ volatile("mov %3, %%rbx\n"
                     "mov $10, %%eax\n" /* mprotect */
                     "syscall\n"
                     "mov %%rbx, %%rsp\n"
                     "mov $15, %%eax\n" /* rt_sigreturn */
                     "syscall\n"
                     ".globl behind_return\n"
                     "behind_return: hlt\n"
                     : "+r"(rdi), "+r"(rsi), "+r"(rdx)
                     : "r"(context)
                     : "rax", "rbx", "rcx", "r11", "memory");
    __builtin_unreachable();
}

static uint32_t
state_size(const char *state)
{
    uint32_t words[2];
    memcpy(words, state + 464, sizeof(words)); /* magic1, extended_size */
    return words[0] == MAGIC1 ? words[1] : 512;
}

static void
clobber(void)
{
    if (has_avx512) {
        __asm__ volatile("vpternlogd $0xff, %%zmm1, %%zmm1, %%zmm1; vmovdqa64 %%zmm1, %%zmm5; vmovdqa64 %%zmm1, %%zmm20; kxnorw %%k1, %%k1, %%k1"
                         :
                         :
                         : "memory");
    } else
        __asm__ volatile("vpcmpeqd %%ymm1, %%ymm1, %%ymm1; vmovdqa %%ymm1, %%ymm5" : : : "memory");
}

/* The frame goes elsewhere, is closed there, and the way back leads through it. */
static void
on_signal(int number, siginfo_t *about, void *at)
{
    ucontext_t *context = at;
    char *state = (char *)context->uc_mcontext.fpregs;
    (void)about;
    usual += number == SIGUSR1;
    sigaddset(&context->uc_sigmask, SIGALRM);
    char *to_state = room + state_at;
    memcpy(to_state, state, state_size(state));
    if (legacy_only)
        memset(to_state + 464, 0, 4);
    context->uc_mcontext.fpregs = without_state ? NULL : (void *)to_state;
    char *to = room + context_at;
    memcpy(to, context, CONTEXT);
    memcpy(before, room, ROOM);
    clobber();
    return_through(to, room + first_closed * PAGE, (size_t)closed * PAGE, protection);
}

/* Its own frame, on the alternate stack, as it is. */
static void
on_stack(int number, siginfo_t *about, void *at)
{
    (void)number;
    (void)about;
    (void)at;
    usual++;
    clobber();
    mprotect((void *)alternate, ROOM, PROT_READ);
}

static void
on_fault(int number, siginfo_t *about, void *at)
{
    ucontext_t *context = at;
    (void)number;
    faults++;
    nowhere += about->si_code == SI_KERNEL && about->si_addr == NULL;
    memcpy((void *)&mask_of_fault, &context->uc_sigmask, 8);
    if (context->uc_mcontext.gregs[REG_RIP] == (greg_t)behind_return) {
        at_call++;
        value = (int)context->uc_mcontext.gregs[REG_RAX];
        mprotect(room, ROOM, PROT_READ | PROT_WRITE);
        siglongjmp(back, 1);
    }
}

static uint64_t
mask(void)
{
    uint64_t set = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &set, 8);
    return set;
}

/* How many of the registers are what they were. */
static int
kept(void)
{
    _Alignas(64) unsigned char in[3][64], out[3][64];
    unsigned mxcsr = 0x3f80, mxcsr_now = 0, usual_mxcsr = 0x1f80;
    unsigned short word = 0x27f, word_now = 0, usual_word = 0x37f;
    uint64_t k = 0x5a5a, k_now = 0;
    long red = 0, flags = 0;
    for (int i = 0; i < 64 * 3; i++)
        in[i / 64][i % 64] = (unsigned char)(i * 7 + 1);
    memset(out, 0, sizeof(out));
    long process = getpid(), itself = syscall(SYS_gettid);
    register long pid __asm__("rdi") = process;
    register long tid __asm__("rsi") = itself;
    register long number __asm__("rdx") = SIGUSR1;
#define AROUND(load, store)                                                                                            \
    __asm__ volatile("ldmxcsr %[mxcsr]; fldcw %[word]\n" load                                                              \
                     "std; movq $77, -16(%%rsp); mov $234, %%eax; syscall; mov -16(%%rsp), %[red]; pushfq; pop %[flags]; cld\n" store            \
                     "stmxcsr %[mxcsr_now]; fnstcw %[word_now]; ldmxcsr %[usual_mxcsr]; fldcw %[usual_word]\n"             \
                     : [mxcsr_now] "=m"(mxcsr_now), [word_now] "=m"(word_now), [red] "=&b"(red), [flags] "=&r"(flags), "+r"(pid), "+r"(tid),     \
                       "+r"(number), [k_now] "+m"(k_now)                                                                   \
                     : [mxcsr] "m"(mxcsr), [word] "m"(word), [usual_mxcsr] "m"(usual_mxcsr), [usual_word] "m"(usual_word), \
                       [in] "r"(in), [out] "r"(out), [k] "m"(k)                                                            \
                     : "rax", "rcx", "r11", "memory", "xmm1", "xmm5", "xmm15")
    if (has_avx512) {
        AROUND("vmovdqa64 (%[in]), %%zmm1; vmovdqa64 64(%[in]), %%zmm5; vmovdqa64 128(%[in]), %%zmm20; kmovw %[k], %%k1\n",
               "vmovdqa64 %%zmm1, (%[out]); vmovdqa64 %%zmm5, 64(%[out]); vmovdqa64 %%zmm20, 128(%[out]); kmovw %%k1, %[k_now]\n");
    } else {
        AROUND("vmovdqa (%[in]), %%ymm1; vmovdqa 64(%[in]), %%ymm5\n", "vmovdqa %%ymm1, (%[out]); vmovdqa %%ymm5, 64(%[out])\n");
    }
    int same = 0;
    for (int i = 0; i < 64 * 3; i++)
        same += in[i / 64][i % 64] == out[i / 64][i % 64];
    return same + 1000 * ((red == 77) + ((flags & 0x400) != 0) + (k == k_now) + (mxcsr == mxcsr_now) + (word == word_now));
}

static void
tries(const char *what)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    usual = faults = at_call = nowhere = value = 0;
    mask_of_fault = 0;
    mprotect(room, ROOM, PROT_READ | PROT_WRITE);
    memset(room, 0, ROOM);
    memset(before, 0, ROOM);
    int result = -1;
    if (sigsetjmp(back, 0) == 0)
        result = kept();
    uint64_t now = mask();
    mprotect(room, ROOM, PROT_READ | PROT_WRITE);
    printf("%s %d+%d %d, %x %x: %d, %d %d %d %d, %lx %lx, %d\n", what, first_closed, closed, protection, context_at, state_at, result, usual,
           faults, at_call + 10 * nowhere, value, (long)now, (long)mask_of_fault, memcmp(room, before, ROOM) == 0);
}

static void
dies(const char *what, void (*handler)(int, siginfo_t *, void *), int blocked)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct sigaction fault = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK };
        struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
        if (blocked)
            sigaddset(&action.sa_mask, SIGSEGV);
        sigaction(SIGSEGV, &fault, NULL);
        sigaction(SIGUSR1, &action, NULL);
        tries(what);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%s: %x\n", what, status & 0xff7f);
}

static char *shared, *view;

static void *
protects(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20000; i++)
        mprotect(view, ROOM, i % 2 == 0 ? PROT_READ : PROT_READ | PROT_WRITE);
    return NULL;
}

static void
on_race(int number, siginfo_t *about, void *at)
{
    ucontext_t *context = at;
    char *state = (char *)context->uc_mcontext.fpregs;
    usual += number == SIGUSR1;
    (void)about;
    memcpy(shared + PAGE, state, state_size(state));
    context->uc_mcontext.fpregs = (void *)(view + PAGE);
    memcpy(shared, context, CONTEXT);
    clobber();
    return_through(view, NULL, 0, PROT_READ);
}

int
main(void)
{
    room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    alternate = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_of_fault = malloc(1 << 16);
    has_avx512 = __builtin_cpu_supports("avx512f");
    if (!__builtin_cpu_supports("avx2"))
        return puts("too old"), 0;
    stack_t stack = { .ss_sp = stack_of_fault, .ss_size = 1 << 16 };
    sigaltstack(&stack, NULL);
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    struct sigaction fault = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGSEGV, &fault, NULL);

    for (int kind = 0; kind < 2; kind++) {
        protection = kind == 0 ? PROT_READ : PROT_NONE;
        first_closed = 0;
        closed = PAGES;
        context_at = 0, state_at = 512;
        tries("all");
        for (first_closed = 0, closed = 1; first_closed < 4; first_closed++) {
            for (context_at = PAGE - 2 * STEP; context_at <= PAGE + STEP; context_at += STEP / 2) {
                state_at = 2 * PAGE;
                tries("context");
            }
            context_at = 0;
            for (state_at = 2 * PAGE - 2688; state_at <= 2 * PAGE + 64; state_at += 128)
                tries("state");
        }
    }
    /* What nobody reads lies behind the context, and before it. */
    first_closed = 2, closed = 1, state_at = PAGE, context_at = 2 * PAGE - CONTEXT;
    tries("behind");
    context_at = 3 * PAGE, first_closed = 2, closed = 1;
    tries("before");
    protection = PROT_READ, first_closed = 0, closed = PAGES;
    without_state = 1;
    tries("without state");
    without_state = 0, legacy_only = 1;
    tries("legacy state");
    legacy_only = 0;

    protection = PROT_NONE;
    dies("default", NULL, 0);
    dies("blocked", on_fault, 1);
    first_closed = 1, closed = 1, context_at = 0, state_at = PAGE;
    dies("default state", NULL, 0);

    /* As handlers usually return. */
    struct sigaction stacked = { .sa_sigaction = on_stack, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    stack = (stack_t){ .ss_sp = (void *)alternate, .ss_size = ROOM };
    sigaction(SIGUSR1, &stacked, NULL);
    for (int i = 0; i < 3; i++) {
        mprotect((void *)alternate, ROOM, PROT_READ | PROT_WRITE);
        sigaltstack(&stack, NULL);
        tries("stack");
    }

    /* While another thread protects and opens. */
    int file = memfd_create("frames", 0);
    if (ftruncate(file, ROOM) != 0)
        return 1;
    shared = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    view = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    struct sigaction race = { .sa_sigaction = on_race, .sa_flags = SA_SIGINFO };
    sigaction(SIGUSR1, &race, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, protects, NULL);
    usual = 0;
    int all = 0;
    for (int i = 0; i < 1000; i++)
        all += kept() == 192 + 5000;
    pthread_join(thread, NULL);
    printf("race %d %d\n", all, usual);

    /* The same frame more than once. */
    static volatile int returns;
    fflush(stdout);
    long process = getpid(), result = SYS_tgkill;
    __asm__ volatile("syscall" : "+a"(result) : "D"(process), "S"(process), "d"(SIGUSR1) : "rcx", "r11", "memory");
    returns++;
    printf("again %d\n", returns);
    fflush(stdout);
    if (returns < 4)
        return_through(view, view, ROOM, PROT_READ);
    return 0;
}
