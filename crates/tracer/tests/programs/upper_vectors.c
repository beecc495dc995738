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

/* Sets one upper part of register `number`, does the same work, and returns what is left of it. */
#define KEPT(number, piece)                                                                             \
    ({                                                                                                  \
        uint64_t given[4] = {0}, left[4];                                                               \
        long result;                                                                                    \
        given[piece] = 0x123456789abcdef0u + number;                                                    \
        __asm__ volatile("vzeroupper; vmovups %0, %%ymm" #number : : "m"(given) : "memory");            \
        __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_getppid) : "rcx", "r11", "memory");         \
        store_much(100000);                                                                             \
        __asm__ volatile("vmovups %%ymm" #number ", %0; vzeroupper" : "=m"(left) : : "memory");         \
        left[piece] == given[piece] && left[piece ^ 1] == 0;                                            \
    })

/* As above of the upper half of 512 bits. */
#define KEPT_512(number, piece)                                                                         \
    ({                                                                                                  \
        uint64_t given[8] = {0}, left[8];                                                               \
        long result;                                                                                    \
        given[piece] = 0x123456789abcdef0u + number;                                                    \
        __asm__ volatile("vzeroupper; vmovups %0, %%zmm" #number : : "m"(given) : "memory");            \
        __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_getppid) : "rcx", "r11", "memory");         \
        store_much(100000);                                                                             \
        __asm__ volatile("vmovups %%zmm" #number ", %0; vzeroupper" : "=m"(left) : : "memory");         \
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
    printf("kept: %d %d %d %d\n", KEPT(0, 2), KEPT(0, 3), KEPT(7, 2), KEPT(15, 3));
    if (__builtin_cpu_supports("avx512f"))
        printf("kept: %d %d %d %d\n", KEPT_512(0, 4), KEPT_512(3, 5), KEPT_512(9, 6), KEPT_512(15, 7));
    return 0;
}
