/* Pushes the selectors of FS and GS, before and behind another one is loaded, and where the stack cannot be written. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static uint64_t pushed[6], base, kept, before;
static int signal_of;

static void
on_fault(int signal, siginfo_t *info, void *context)
{
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    (void)info;
    signal_of = signal;
    kept = (uint64_t)regs[REG_RCX];
    regs[REG_RIP] = regs[REG_R15];
    regs[REG_RSP] = regs[REG_R14];
}

int
main(void)
{
    static char stack[65536];
    stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    sigaltstack(&other, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    syscall(SYS_arch_prctl, ARCH_GET_FS, &base);
    /* Nothing between may need FS. */
    __asm__ volatile("push %%rsp\n\tpop %%r14\n\tsub $256, %%rsp\n\t"
                     "movq $0, (%%rsp)\n\tmovq $0, -8(%%rsp)\n\tmovq $0, -16(%%rsp)\n\t"
                     "push %%fs\n\tpopq %0\n\tpush %%gs\n\tpopq %1\n\t"
                     "mov $0x2b, %%ecx\n\tmov %%ecx, %%fs\n\tmov %%ecx, %%gs\n\t"
                     "movq $0, -8(%%rsp)\n\tpush %%fs\n\tpopq %2\n\tmovq $0, -8(%%rsp)\n\tpush %%gs\n\tpopq %3\n\t"
                     "movq $0, -8(%%rsp)\n\tmovabs $0x123456789abcdef0, %%rcx\n\tpushw %%fs\n\tpopw %4\n\tpushw %%gs\n\tpopw %5\n\t"
                     "mov %%rcx, %6\n\tmov %%r14, %%rsp\n\t"
                     "mov $158, %%eax\n\tmov $0x1002, %%edi\n\tmov %7, %%rsi\n\tsyscall"
                     : "=m"(pushed[0]), "=m"(pushed[1]), "=m"(pushed[2]), "=m"(pushed[3]), "=m"(pushed[4]), "=m"(pushed[5]),
                       "=m"(before)
                     : "m"(base)
                     : "rax", "rcx", "rdi", "rsi", "r11", "r14", "memory", "cc");
    for (int i = 0; i < 6; i++)
        printf("%#lx\n", (unsigned long)pushed[i]);
    printf("kept %#lx\n", (unsigned long)before);
    __asm__ volatile("mov %%rsp, %%r14\n\tlea 1f(%%rip), %%r15\n\tmov $0x7777, %%ecx\n\tmov $0x1000, %%esp\n\tpush %%fs\n1:"
                     :
                     :
                     : "rcx", "r14", "r15", "memory", "cc");
    printf("signal %d, kept %#lx\n", signal_of, (unsigned long)kept);
    return 0;
}
