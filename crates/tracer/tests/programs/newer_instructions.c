/* Every form of the instructions of AVX512-FP16, each with operands in registers and in memory, which the decoder of the engine did
 * not know: says what is in the registers, the flags and the memory behind each. Without arguments all, with a number that one's
 * only, and where the memory is; ends with 77 where the processor has them not. */
#include <cpuid.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "newer_forms.h"

struct state {
    uint8_t zmm[8][64]; /* 0, 1, 2, 8, 9, 17, 18, 31 */
    uint64_t mask[4];   /* k1, k2, k3, k5 */
    uint64_t general[4]; /* rax, rdx, r9, flags */
};

struct one {
    void (*code)(void);
    const char *name;
};

extern const struct one first_case[], last_case[];
uint8_t area[8192] __attribute__((aligned(4096)));
__thread uint8_t of_thread[256];

#define LOAD(n, at) "vmovdqu64 64*" #at "(%%rdi), %%zmm" #n "\n\t"
#define STORE(n, at) "vmovdqu64 %%zmm" #n ", 64*" #at "(%%rdi)\n\t"
#define ALL(what) what(0, 0) what(1, 1) what(2, 2) what(8, 3) what(9, 4) what(17, 5) what(18, 6) what(31, 7)

static void
execute(void (*code)(void), struct state *s)
{
    __asm__ volatile(
        "sub $128, %%rsp\n\t" /* over the red zone */
        ALL(LOAD) "kmovq 512(%%rdi), %%k1\n\tkmovq 520(%%rdi), %%k2\n\tkmovq 528(%%rdi), %%k3\n\tkmovq 536(%%rdi), %%k5\n\t"
        "mov 544(%%rdi), %%rax\n\tmov 552(%%rdi), %%rdx\n\tmov 560(%%rdi), %%r9\n\tpushq 568(%%rdi)\n\tpopfq\n\t"
        "call *%%rbx\n\t"
        "pushfq\n\tpopq 568(%%rdi)\n\tmov %%rax, 544(%%rdi)\n\tmov %%rdx, 552(%%rdi)\n\tmov %%r9, 560(%%rdi)\n\t"
        "kmovq %%k1, 512(%%rdi)\n\tkmovq %%k2, 520(%%rdi)\n\tkmovq %%k3, 528(%%rdi)\n\tkmovq %%k5, 536(%%rdi)\n\t" ALL(STORE)
        "add $128, %%rsp"
        :
        : "D"(s), "S"(area + 1024), "c"(5L), "b"(code)
        : "rax", "rdx", "r8", "r9", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm8", "xmm9");
}

static void
fill(void *to, unsigned long n, unsigned int seed)
{
    /* Numbers about 1, of any sign, and now and then anything. */
    uint16_t *p = to;
    for (unsigned long i = 0; i < n / 2; i++) {
        seed = seed * 1103515245 + 12345;
        uint16_t bits = (uint16_t)(seed >> 14);
        p[i] = (seed >> 8 & 15) == 0 ? bits : (uint16_t)((bits & 0x83ff) | 0x3400 | (bits & 0x0800));
    }
}

static uint64_t
sum(const void *bytes, unsigned long n)
{
    const uint8_t *p = bytes;
    uint64_t h = 14695981039346656037ull;
    while (n-- > 0)
        h = (h ^ *p++) * 1099511628211ull;
    return h;
}

int
main(int argc, char **argv)
{
    unsigned int a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d >> 23 & 1))
        return 77;
    long only = argc > 1 ? atol(argv[1]) : -1, n = 0;
    if (only >= 0)
        printf("area %lu\n", (unsigned long)area);
    for (const struct one *one = first_case; one < last_case; one++, n++) {
        struct state s;
        if (only >= 0 && only != n)
            continue;
        fill(&s, sizeof(s.zmm), (unsigned int)n);
        fill(area, sizeof(area), (unsigned int)n + 1);
        fill(of_thread, sizeof(of_thread), (unsigned int)n + 2);
        for (int i = 0; i < 4; i++) {
            s.mask[i] = 0x5a3c96a5f00f1234ull * (uint64_t)(n + i + 1);
            s.general[i] = 0x1234567 * (uint64_t)(n + i + 1);
        }
        s.general[3] = 0x202 | (n & 1 ? 0x8d5 : 0);
        execute(one->code, &s);
        printf("%ld %s: %016lx, %lx %lx %lx, flags %lx, masks %016lx, memory %016lx\n", n, one->name,
               sum(s.zmm, sizeof(s.zmm)), s.general[0], s.general[1], s.general[2], s.general[3], sum(s.mask, sizeof(s.mask)),
               sum(area, sizeof(area)) + sum(of_thread, sizeof(of_thread)));
    }
    return 0;
}
