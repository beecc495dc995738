/* What the processor takes for in use of the vector registers' upper parts, which the program has given
 * up: behind code that is new, system calls, and stores enough to fill buffers. And that what it has not
 * given up is kept. */
#include <cpuid.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/syscall.h>

#define AVX 4u

static uint64_t stored[1 << 12];

static inline uint32_t __attribute__((always_inline))
in_use(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
    return low;
}

/* Stores that the compiler neither leaves out nor makes vectors of. */
static inline void __attribute__((always_inline))
store_much(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        uint64_t *to = &stored[i * 97 & ((1 << 12) - 1)];
        __asm__ volatile("movq %1, %0" : "=m"(*to) : "r"((uint64_t)i));
    }
}

/* Returns after each kind of work which of the parts were in use; no call of a library lies between. */
static void __attribute__((noinline))
look(uint32_t *seen)
{
    long result;
    __asm__ volatile("vzeroupper" ::: "memory");
    seen[0] = in_use();
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_getppid) : "rcx", "r11", "memory");
    seen[1] = in_use();
    store_much(300000);
    seen[2] = in_use();
}

/* Sets one upper part of register `kind` `number` (ymm, zmm), does the same work, and returns whether that is what is left of it. */
#define KEPT(kind, number, piece)                                                                       \
    ({                                                                                                  \
        uint64_t given[8] = {0}, left[8];                                                               \
        long result;                                                                                    \
        given[piece] = 0x123456789abcdef0u + number;                                                    \
        __asm__ volatile("vzeroupper; vmovups %0, %%" #kind #number : : "m"(given) : "memory");         \
        __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_getppid) : "rcx", "r11", "memory");         \
        store_much(100000);                                                                             \
        __asm__ volatile("vmovups %%" #kind #number ", %0; vzeroupper" : "=m"(left) : : "memory");      \
        left[piece] == given[piece] && left[piece ^ 1] == 0;                                            \
    })

int
main(void)
{
    uint32_t a, b, c, d, seen[3];
    if (!__builtin_cpu_supports("avx")) {
        puts("no upper parts");
        return 0;
    }
    __cpuid_count(0xd, 1, a, b, c, d);
    if (a & 4) {
        look(seen);
        for (int i = 0; i < 3; i++)
            printf("%d: %x\n", i, seen[i] & AVX);
    }
    printf("kept: %d %d %d %d\n", KEPT(ymm, 0, 2), KEPT(ymm, 0, 3), KEPT(ymm, 7, 2), KEPT(ymm, 15, 3));
    if (__builtin_cpu_supports("avx512f"))
        printf("kept: %d %d %d %d\n", KEPT(zmm, 0, 4), KEPT(zmm, 3, 5), KEPT(zmm, 9, 6), KEPT(zmm, 15, 7));
    return 0;
}
