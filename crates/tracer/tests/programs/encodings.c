/* Forms of instructions that assemblers do not write, and some that are none, with an operand by the instruction pointer: what
 * becomes of each, of the registers and of the memory that it may change. */
#define _GNU_SOURCE
#include <stdio.h>

#include "encodings.h"

static struct {
    uint64_t rax, rcx, rdx, rbx;
    unsigned char xmm[2][16], mm[8];
} seen;

/* `first` is all up to ModRM, `behind` what follows the displacement, of `length` bytes. */
#define TRY(name, first, length, behind)                                                              \
    do {                                                                                              \
        for (unsigned int i = 0; i < sizeof(area); i++)                                               \
            area[i] = (unsigned char)(i * 7 + 1);                                                     \
        signal_of = code_of = 0;                                                                      \
        __asm__ volatile("movdqa area+64(%%rip), %%xmm0\n\tmovdqa area+128(%%rip), %%xmm1\n\t"        \
                         "movq area(%%rip), %%mm0\n\tmov $0x100000003, %%rax\n\tmov $0x2222, %%rcx\n\t" \
                         "mov $0x100000005, %%rdx\n\tmov $0x4444, %%rbx\n\tlea 1f(%%rip), %%r15\n\t"  \
                         ".byte " first "\n\t.long area + 256 - . - 4 - " #length "\n\t" behind "\n1:\n\t" \
                         "mov %%rax, %0\n\tmov %%rcx, %1\n\tmov %%rdx, %2\n\tmov %%rbx, %3\n\t"       \
                         "movdqa %%xmm0, %4\n\tmovdqa %%xmm1, %5\n\tmovq %%mm0, %6\n\temms"           \
                         : "=m"(seen.rax), "=m"(seen.rcx), "=m"(seen.rdx), "=m"(seen.rbx),            \
                           "=m"(seen.xmm[0]), "=m"(seen.xmm[1]), "=m"(seen.mm)                        \
                         :                                                                            \
                         : "rax", "rcx", "rdx", "rbx", "r15", "xmm0", "xmm1", "memory", "cc");        \
        printf("%s: signal %d, code %d, registers %#lx %#lx %#lx %#lx, %016lx, memory %016lx\n", name, signal_of, code_of, \
               seen.rax, seen.rcx, seen.rdx, seen.rbx, sum(seen.xmm, sizeof(seen.xmm) + sizeof(seen.mm)), \
               sum(area, sizeof(area)));                                                              \
    } while (0)

int
main(void)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
    TRY("pcmpestri", "0x66, 0x0f, 0x3a, 0x61, 0x05", 1, ".byte 0x18");
    TRY("pcmpestri with REX.W", "0x66, 0x48, 0x0f, 0x3a, 0x61, 0x05", 1, ".byte 0x18");
    TRY("pcmpestrm with REX.W", "0x66, 0x48, 0x0f, 0x3a, 0x60, 0x05", 1, ".byte 0x18");
    TRY("vpcmpestri with VEX.W", "0xc4, 0xe3, 0xf9, 0x61, 0x05", 1, ".byte 0x18");
    TRY("vpcmpestrm with VEX.W", "0xc4, 0xe3, 0xf9, 0x60, 0x05", 1, ".byte 0x18");
    TRY("REX.B", "0x49, 0x8b, 0x05", 0, "");
    TRY("REX.WRXB", "0x4b, 0x03, 0x0d", 0, "");
    TRY("VEX.B", "0xc4, 0xc1, 0x79, 0x6f, 0x05", 0, "");
    TRY("operand size twice", "0x66, 0x66, 0x8b, 0x05", 0, "");
    TRY("xacquire", "0xf2, 0xf0, 0x01, 0x05", 0, "");
    TRY("xrelease", "0xf3, 0x88, 0x05", 0, "");
    TRY("32-bit xchg with a segment", "0x2e, 0x87, 0x05", 0, "");
    TRY("add of a constant", "0x48, 0x81, 0x05", 4, ".long 0x12345678");
    TRY("shift of a byte", "0xc0, 0x25", 1, ".byte 3");
    TRY("punpcklbw", "0x0f, 0x60, 0x05", 0, "");
    TRY("clrssbsy", "0xf3, 0x0f, 0xae, 0x35", 0, "");
    TRY("cmpxchg8b with 66", "0x66, 0x0f, 0xc7, 0x0d", 0, "");
    if (!__builtin_cpu_supports("avx512vl"))
        return 0;
    TRY("vaddpd", "0x62, 0xf1, 0xfd, 0x08, 0x58, 0x05", 0, "");
    TRY("vaddpd with a register above", "0x62, 0xd1, 0xfd, 0x08, 0x58, 0x05", 0, "");
    TRY("vaddpd with EVEX.W = 0", "0x62, 0xf1, 0x7d, 0x08, 0x58, 0x05", 0, "");
    TRY("vaddps with EVEX.W = 1", "0x62, 0xf1, 0xfc, 0x08, 0x58, 0x05", 0, "");
    TRY("vsqrtpd with EVEX.W = 0", "0x62, 0xf1, 0x7d, 0x08, 0x51, 0x05", 0, "");
    TRY("vaddpd with a broadcast", "0x62, 0xf1, 0xfd, 0x18, 0x58, 0x05", 0, "");
    TRY("vaddsd with rounding", "0x62, 0xf1, 0xff, 0x18, 0x58, 0x05", 0, "");
    TRY("vmovd with a mask", "0x62, 0xf1, 0x7d, 0x0a, 0x6e, 0x05", 0, "");
    TRY("vmovhps with EVEX.W = 1", "0x62, 0xf1, 0xfc, 0x08, 0x16, 0x05", 0, "");
    TRY("vcomisd with EVEX.W = 0", "0x62, 0xf1, 0x7d, 0x08, 0x2f, 0x05", 0, "");
    TRY("vmovntdq with a mask", "0x62, 0xf1, 0x7d, 0x09, 0xe7, 0x05", 0, "");
    TRY("vpextrd with length 1", "0x62, 0xf3, 0x7d, 0x28, 0x16, 0x05", 1, ".byte 1");
    TRY("vpsadbw with a broadcast", "0x62, 0xf1, 0x7d, 0x18, 0xf6, 0x05", 0, "");
    return 0;
}
