/* Executes instructions that decoders may not know, and writes what they did to the file of its
 * argument: the name and "done RESULT" or "refused". */
#include <cpuid.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 50

static sigjmp_buf back;
static FILE *out;
static char line[128] __attribute__((aligned(64)));

static void
on_illegal(int sig)
{
    siglongjmp(back, 1);
}

static int
has(unsigned leaf, int reg, int bit)
{
    unsigned r[4] = { 0 };
    __get_cpuid_count(leaf, 0, &r[0], &r[1], &r[2], &r[3]);
    return r[reg] >> bit & 1;
}

/* Zeroes the line that rax is in. */
static void
clear_line(void)
{
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        memset(line, i + 1, sizeof(line));
        __asm__ volatile("clzero" : : "a"(line + 3) : "memory");
        for (int k = 0; k < 128; k++)
            sum += line[k];
    }
    fprintf(out, "clzero done %d\n", sum);
}

/* Reads vector registers, writes mask registers; all others must stay as they were. */
static void
intersect(void)
{
    unsigned a[16], b[16], masks[2], other[16], same = 0, sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < 16; k++) {
            a[k] = k * (i + 1);
            b[k] = 3 * k + i;
            other[k] = 77 * k + i;
        }
        __asm__ volatile("vmovdqu32 %[a], %%zmm17\n vmovdqu32 %[b], %%zmm2\n"
                         "vmovdqu32 %[o], %%zmm31\n"
                         "vp2intersectd %%zmm2, %%zmm17, %%k2\n"
                         "kmovw %%k2, %[m0]\n kmovw %%k3, %[m1]\n"
                         "vpxord %%zmm30, %%zmm30, %%zmm30\n"
                         "vmovdqu32 %%zmm31, %[o]\n"
                         : [o] "+m"(other), [m0] "=r"(masks[0]), [m1] "=r"(masks[1])
                         : [a] "m"(a), [b] "m"(b)
                         : "xmm2", "memory");
        sum = sum * 31 + masks[0] * 7 + masks[1];
        for (int k = 0; k < 16; k++)
            same += other[k] == 77u * k + i;
    }
    fprintf(out, "vp2intersectd done %u %u\n", sum, same);
}

/* The same with an operand that is addressed relative to the instruction. */
__attribute__((used)) static unsigned around[16] = { 5, 4, 3, 2, 1, 0, 9, 8, 7, 6, 15, 14, 13, 12, 11, 10 };
static void
intersect_relative(void)
{
    unsigned m0 = 0, m1 = 0;
    __asm__ volatile("vmovdqu32 around(%%rip), %%zmm2\n"
                     "vpslld $1, %%zmm2, %%zmm2\n"
                     "vp2intersectd around(%%rip), %%zmm2, %%k2\n"
                     "kmovw %%k2, %0\n kmovw %%k3, %1\n"
                     : "=r"(m0), "=r"(m1)
                     :
                     : "xmm2", "memory");
    fprintf(out, "relative done %u %u\n", m0, m1);
}

/* No processor knows it: the program gets its signal. */
static void
undefined(void)
{
    for (int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0) {
            __asm__ volatile(".byte 0x0f, 0x0a");
            fprintf(out, "undefined done\n");
        } else {
            fprintf(out, "undefined refused\n");
        }
    }
}

int
main(int argc, char **argv)
{
    out = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (out == NULL)
        return 1;
    signal(SIGILL, on_illegal);
    if (has(0x80000008, 1, 0))
        clear_line();
    if (has(7, 3, 8)) {
        intersect();
        intersect_relative();
    }
    undefined();
    return fclose(out);
}
