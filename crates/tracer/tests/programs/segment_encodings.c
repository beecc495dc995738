/* The forms of encodings.c, and plain ones, with operands by FS and GS: by a register and by two. What becomes of each, of
 * the registers and of the memory that it may change. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "encodings.h"

static struct {
    uint64_t rax, rcx, rdx, rbx, rsi, rdi;
    unsigned char xmm[2][16], mm[8];
} seen;
static uint64_t at;
static const uint64_t index_of = 8;

#define RUN(name, form, bytes)                                                                        \
    do {                                                                                              \
        for (unsigned int i = 0; i < sizeof(area); i++)                                               \
            area[i] = (unsigned char)(i * 7 + 1);                                                     \
        signal_of = code_of = 0;                                                                      \
        __asm__ volatile("movdqa area+64(%%rip), %%xmm0\n\tmovdqa area+128(%%rip), %%xmm1\n\t"                \
                         "movq area(%%rip), %%mm0\n\tmov $0x100000003, %%rax\n\tmov $0x2222, %%rcx\n\t"   \
                         "mov $0x100000005, %%rdx\n\tmov $0x4444, %%rbx\n\tlea 1f(%%rip), %%r15\n\t"  \
                         "mov %[at], %%rsi\n\tmov %[index], %%rdi\n\t"                                \
                         bytes "\n1:\n\t"                                                             \
                         "mov %%rax, %0\n\tmov %%rcx, %1\n\tmov %%rdx, %2\n\tmov %%rbx, %3\n\t"       \
                         "movdqa %%xmm0, %4\n\tmovdqa %%xmm1, %5\n\tmovq %%mm0, %6\n\temms\n\t"       \
                         "mov %%rsi, %7\n\tmov %%rdi, %8"                                             \
                         : "=m"(seen.rax), "=m"(seen.rcx), "=m"(seen.rdx), "=m"(seen.rbx),            \
                           "=m"(seen.xmm[0]), "=m"(seen.xmm[1]), "=m"(seen.mm), "=m"(seen.rsi), "=m"(seen.rdi) \
                         : [at] "m"(at), [index] "m"(index_of)                      \
                         : "rax", "rcx", "rdx", "rbx", "rsi", "rdi", "r15", "xmm0", "xmm1", "memory", "cc"); \
        printf("%s, %s: signal %d, code %d, registers %#lx %#lx %#lx %#lx %d %#lx, %016lx, memory %016lx\n", name, form, \
               signal_of, code_of, seen.rax, seen.rcx, seen.rdx, seen.rbx, seen.rsi == at, seen.rdi,  \
               sum(seen.xmm, sizeof(seen.xmm) + sizeof(seen.mm)), sum(area, sizeof(area)));           \
    } while (0)

/* `first` is all up to ModRM, of which `reg` is the register, `behind` what follows the operand. */
#define TRY(name, segment, first, reg, behind)                                                        \
    do {                                                                                              \
        RUN(name, segment " by a register", ".byte " segment ", " first ", 0x06 + 8 * " #reg "\n\t" behind); \
        RUN(name, segment " by two", ".byte " segment ", " first ", 0x44 + 8 * " #reg ", 0x3e, 0\n\t" behind); \
        RUN(name, segment " by two and 32 bits", ".byte " segment ", " first ", 0x84 + 8 * " #reg ", 0xbe, 16, 0, 0, 0\n\t" behind); \
    } while (0)

#define TRY_ALL(segment)                                                                              \
    do {                                                                                              \
        TRY("mov", segment, "0x48, 0x8b", 1, "");                                                     \
        TRY("mov to memory", segment, "0x48, 0x89", 1, "");                                           \
        TRY("REX.W twice over", segment, "0x66, 0x66, 0x8b", 1, "");                                  \
        TRY("pcmpestri with REX.W", segment, "0x66, 0x48, 0x0f, 0x3a, 0x61", 0, ".byte 0x18");        \
        TRY("pcmpestrm with REX.W", segment, "0x66, 0x48, 0x0f, 0x3a, 0x60", 0, ".byte 0x18");        \
        TRY("vpcmpestri with VEX.W", segment, "0xc4, 0xe3, 0xf9, 0x61", 0, ".byte 0x18");             \
        TRY("xacquire", segment, "0xf2, 0xf0, 0x01", 0, "");                                          \
        TRY("xrelease", segment, "0xf3, 0x88", 0, "");                                                \
        TRY("add of a constant", segment, "0x48, 0x81", 0, ".long 0x12345678");                       \
        TRY("shift of a byte", segment, "0xc0", 4, ".byte 3");                                        \
        TRY("shift by the encoding 6", segment, "0xc0", 6, ".byte 3");                                \
        TRY("test by the encoding 1", segment, "0xf7", 1, ".long 0x12345678");                        \
        TRY("punpcklbw", segment, "0x0f, 0x60", 0, "");                                               \
        TRY("cmpxchg8b with 66", segment, "0x66, 0x0f, 0xc7", 1, "");                                 \
    } while (0)

#define TRY_VECTORS(segment)                                                                          \
    do {                                                                                              \
        TRY("vaddpd", segment, "0x62, 0xf1, 0xfd, 0x08, 0x58", 0, "");                                \
        TRY("vaddpd with EVEX.W = 0", segment, "0x62, 0xf1, 0x7d, 0x08, 0x58", 0, "");                \
        TRY("vaddps with EVEX.W = 1", segment, "0x62, 0xf1, 0xfc, 0x08, 0x58", 0, "");                \
        TRY("vaddpd with a broadcast", segment, "0x62, 0xf1, 0xfd, 0x18, 0x58", 0, "");               \
        TRY("vaddsd with rounding", segment, "0x62, 0xf1, 0xff, 0x18, 0x58", 0, "");                  \
        TRY("vmovd with a mask", segment, "0x62, 0xf1, 0x7d, 0x0a, 0x6e", 0, "");                     \
        TRY("vcomisd with EVEX.W = 0", segment, "0x62, 0xf1, 0x7d, 0x08, 0x2f", 0, "");               \
        TRY("vpsadbw with a broadcast", segment, "0x62, 0xf1, 0x7d, 0x18, 0xf6", 0, "");              \
    } while (0)

int
main(void)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
    uint64_t base = 0;
    setvbuf(stdout, NULL, _IONBF, 0);
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
    syscall(SYS_arch_prctl, ARCH_GET_FS, &base);
    at = (uint64_t)area + 256 - base;
    TRY_ALL("0x64");
    if (__builtin_cpu_supports("avx512vl"))
        TRY_VECTORS("0x64");
    at = (uint64_t)area + 256;
    TRY_ALL("0x65");
    TRY("half an address", "0x65", "0x67, 0x48, 0x8b", 1, "");
    if (__builtin_cpu_supports("avx512vl"))
        TRY_VECTORS("0x65");
    return 0;
}
