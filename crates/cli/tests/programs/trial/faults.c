/* Each page that it fills is read-only until the store faults: the handler is shown where that is, and
 * says whether it is the same store every time. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

#define BYTES (1ul << 20)
#define PAGE 4096ul

static char *memory;
static uintptr_t first_at, others, faults, wrong;

static void
handle(int signal, siginfo_t *info, void *context)
{
    const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t at = (uintptr_t)regs[REG_RIP], address = (uintptr_t)info->si_addr;
    (void)signal;
    faults++;
    if (first_at == 0)
        first_at = at;
    others += at != first_at;
    /* `fill` keeps the address in rdi and a guard in rcx. */
    wrong += (uintptr_t)regs[REG_RDI] != address || regs[REG_RCX] != 0x5eed;
    mprotect((void *)(address & ~(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE);
}

__attribute__((noinline)) static void
fill(char *to)
{
    char *end = to + BYTES;
    __asm__ volatile("mov $0x5eed, %%ecx\n\t"
                     "movd %%ecx, %%xmm0\n"
                     "1:\tmovups %%xmm0, (%0)\n\t"
                     "add $16, %0\n\t"
                     "cmp %1, %0\n\t"
                     "jb 1b"
                     : "+D"(to)
                     : "r"(end)
                     : "rcx", "xmm0", "cc", "memory");
}

int
main(void)
{
    struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
    memory = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, NULL);
    fill(memory);
    printf("%lu faults, %lu elsewhere, %lu wrong, %x\n", (unsigned long)faults,
           (unsigned long)others, (unsigned long)wrong, ((unsigned *)memory)[4096]);
    return 0;
}
