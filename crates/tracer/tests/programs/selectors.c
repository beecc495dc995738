/* Loads selectors into FS and GS, good and bad ones, from registers and from memory, and says what came of it: the fault,
 * or the selector and the base that there are then. What lies between may not need FS. */
#define _GNU_SOURCE
#include <asm/ldt.h>
#include <asm/prctl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

struct outcome {
    int signal, code;
    uint64_t error, number, address;
    uint64_t selector, base, at_base;
    uint64_t kept;
};

static volatile struct outcome now;
static uint16_t selector, read_back;
static unsigned char *page;

static void
on_fault(int signal, siginfo_t *info, void *context)
{
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    now.signal = signal;
    now.code = info->si_code;
    now.address = (uint64_t)info->si_addr;
    now.error = (uint64_t)regs[REG_ERR];
    now.number = (uint64_t)regs[REG_TRAPNO];
    regs[REG_RIP] = regs[REG_R15];
}

static long
base(int what, uint64_t value)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_arch_prctl), "D"((long)what), "S"(value)
                     : "rcx", "r11", "memory");
    return result;
}

/* Registers that the engine might take for itself keep their values, whether it faults or not. */
#define LOAD(instruction)                                                                         \
    __asm__ volatile("mov $0x1111, %%rax\n\tmov $0x2222, %%rcx\n\tmov $0x3333, %%rdx\n\t"         \
                     "mov $0x4444, %%rbx\n\tmovzwl %[sel], %%edi\n\tlea 1f(%%rip), %%r15\n\t"     \
                     instruction "\n1:\n\t"                                                       \
                     "add %%rcx, %%rax\n\tadd %%rdx, %%rax\n\tadd %%rbx, %%rax\n\tmov %%rax, %[kept]" \
                     : [kept] "=m"(now.kept)                                                      \
                     : [sel] "m"(selector), "S"(page)                                             \
                     : "rax", "rcx", "rdx", "rbx", "rdi", "r15", "memory", "cc")

enum { FS, FS_MEMORY, FS_RIP, FS_UNREADABLE, GS, GS_MEMORY, WAYS };

static void
load(int way)
{
    switch (way) {
    case FS: LOAD("mov %%edi, %%fs"); break;
    case FS_MEMORY: LOAD("mov %[sel], %%fs"); break;
    case FS_RIP: LOAD("mov selector(%%rip), %%fs"); break;
    case FS_UNREADABLE: LOAD("mov (%%rsi), %%fs"); break;
    case GS: LOAD("mov %%edi, %%gs"); break;
    default: LOAD("mov %[sel], %%gs"); break;
    }
}

static void
try(int way, unsigned int what)
{
    struct outcome result;
    uint64_t old = 0, value = 0;
    memset((void *)&now, 0, sizeof(now));
    selector = (uint16_t)what;
    base(ARCH_GET_FS, (uint64_t)&old);
    load(way);
    if (way >= GS)
        __asm__ volatile("mov %%gs, %0" : "=r"(value));
    else {
        __asm__ volatile("mov %%fs, %0" : "=r"(value));
        __asm__ volatile("mov %%fs, %0" : "=m"(read_back));
        now.selector = (uint64_t)read_back << 32;
        base(ARCH_GET_FS, (uint64_t)&now.base);
        if (now.base == (uint64_t)page)
            __asm__ volatile("mov %%fs:8, %0" : "=r"(value));
        now.at_base = value;
        base(ARCH_SET_FS, old);
        __asm__ volatile("mov %%fs, %0" : "=r"(value));
        now.selector |= value << 16;
    }
    now.selector |= value;
    result = now;
    printf("way %d, %#x: signal %d, %d, error %#lx of %ld at %#lx; selector %#lx, base %s, %#lx, kept %#lx\n", way, what,
           result.signal, result.code, result.error, result.number, result.address, result.selector,
           result.base == old ? "as before" : result.base == (uint64_t)page ? "the page" : result.base == 0 ? "0" : "?",
           result.at_base, result.kept);
}

int
main(void)
{
    /* Not 1 to 3, which an interrupt may make 0. */
    static const unsigned int selectors[] = { 0,    0x8,  0x10, 0x18, 0x23, 0x28,   0x2a,   0x2b, 0x33,
                                              0x30, 0x43, 0x63, 0x7b, 0x1234, 0xffff, 7,    0xf };
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
    struct user_desc segment = { .entry_number = 0, .limit = 0xfffff, .seg_32bit = 1, .limit_in_pages = 1, .useable = 1 };
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    page[8] = 42;
    for (int round = 0; round < 2; round++) {
        for (int way = FS; way < WAYS; way++) {
            if (way == FS_UNREADABLE)
                continue;
            for (unsigned int i = 0; i < sizeof(selectors) / sizeof(*selectors); i++)
                if (round == 0 || way < GS) /* the base of GS stays 0 */
                    try(way, selectors[i]);
        }
        segment.base_addr = (unsigned int)(uintptr_t)page;
        printf("a segment: %ld\n", syscall(SYS_modify_ldt, 1, &segment, sizeof(segment)));
        segment.entry_number = 1;
        segment.seg_not_present = 1;
        printf("one that is not present: %ld\n", syscall(SYS_modify_ldt, 1, &segment, sizeof(segment)));
        segment.entry_number = 0;
        segment.seg_not_present = 0;
    }
    mprotect(page, 4096, PROT_NONE);
    page = (unsigned char *)0x1000;
    try(FS_UNREADABLE, 0);
    return 0;
}
