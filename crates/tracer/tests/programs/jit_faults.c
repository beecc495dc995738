/* Code that changes itself, and then faults amid work on the registers: what the handler is shown, and what it goes
 * on with, is what the processor's manual promises. */
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>

#include "jit_call.h"

const char *const jit_reg_names[REGS + 1] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                              "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                              "r12", "r13", "r14", "r15", "flags" };

#define ROUNDS 400

static const int in_context[REGS] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

static int wrong, handled;
static uint64_t round_now;
static state_t at_fault;
static const uint8_t *faulting;
/* The page that must not be touched, and one that may. */
static uint8_t *closed, *open_page;

static void
on_fault(int signal, siginfo_t *info, void *context)
{
    greg_t *gregs = ((ucontext_t *)context)->uc_mcontext.gregs;
    state_t shown = { .flags = (uint64_t)gregs[REG_EFL] };
    for (int i = 0; i < REGS; i++)
        shown.reg[i] = (uint64_t)gregs[in_context[i]];
    wrong += differs("handler", round_now, &shown, &at_fault);
    if ((const uint8_t *)gregs[REG_RIP] != faulting || info->si_addr != closed) {
        printf("handler, round %llu: another place\n", (unsigned long long)round_now);
        wrong++;
    }
    gregs[REG_R9] = (greg_t)open_page;
    handled++;
}

/* The first store changes the constant of the last instruction. */
static void
changes_and_faults(uint8_t *code, int store)
{
    maker_t m = { code };
    CODE(&m, "\x48\x8d\x5b\x01"  /* lea 1(%rbx),%rbx */
             "\x4c\x89\x17"      /* mov %r10,(%rdi) */
             "\x89\x4a\x01"      /* mov %ecx,1(%rdx) */
             "\x4c\x89\x5e\x08"  /* mov %r11,8(%rsi) */
             "\x4d\x8d\x04\x30"); /* lea (%r8,%rsi),%r8 */
    faulting = m.at;
    if (store)
        CODE(&m, "\x4d\x89\x31"); /* mov %r14,(%r9) */
    else
        CODE(&m, "\x4d\x8b\x31"); /* mov (%r9),%r14 */
    CODE(&m, "\x4c\x89\x65\x10"); /* mov %r12,16(%rbp) */
    uint8_t *changed = m.at;
    CODE(&m, "\xb8\0\0\0\0\xc3"); /* mov $0,%eax; ret */
    for (uint64_t round = 0; round < ROUNDS; round++) {
        state_t s, should;
        round_now = round;
        fill(&s, round);
        s.reg[RDX] = (uint64_t)changed;
        s.reg[RDI] = (uint64_t)open_page + 128;
        s.reg[RSI] = (uint64_t)open_page + 256;
        s.reg[RBP] = (uint64_t)open_page + 512;
        s.reg[R9] = (uint64_t)closed;
        should = s;
        should.reg[RBX]++;
        should.reg[R8] += s.reg[RSI];
        at_fault = should;
        s.code = code;
        /* As the stack is when the code runs: not compared. */
        memset(open_page, 0x5a, 8);
        jit_call(&s);
        should.reg[RAX] = (uint32_t)s.reg[RCX];
        should.reg[R9] = (uint64_t)open_page;
        if (!store)
            should.reg[R14] = 0x5a5a5a5a5a5a5a5aull;
        wrong += differs("behind", round, &s, &should);
        if (store && memcmp(open_page, &s.reg[R14], 8) != 0)
            wrong += printf("behind, round %llu: not stored\n", (unsigned long long)round) > 0;
    }
}

int
main(void)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &action, NULL);
    closed = pages(1, PROT_NONE);
    open_page = pages(1, PROT_READ | PROT_WRITE);
    changes_and_faults(pages(1, RWX), 0);
    changes_and_faults(pages(1, RWX), 1);
    printf("%d faults, %d wrong\n", handled, wrong);
    return wrong != 0;
}
