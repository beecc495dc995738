/* Fills memory with stores of several kinds, each more than the caches hold and never read soon. Prints
 * a sum of all of it. */
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES (3u << 20)

/* Neither vectorised nor turned into memset. */
#define AS_WRITTEN __asm__ volatile("" ::: "memory")

__attribute__((noinline)) static void
general(uint64_t *to, uint64_t seed)
{
    for (unsigned i = 0; i < BYTES / 8; i++) {
        to[i] = seed * i;
        AS_WRITTEN;
    }
}

__attribute__((noinline)) static void
constant(uint32_t *to, uint64_t seed)
{
    for (unsigned i = 0; i < BYTES / 4; i++) {
        to[i] = 0x89abcdef;
        AS_WRITTEN;
    }
}

__attribute__((noinline)) static void
scalar(double *to, uint64_t seed)
{
    double x = (double)seed;
    for (unsigned i = 0; i < BYTES / 8; i++) {
        to[i] = x += 0.5;
        AS_WRITTEN;
    }
}

__attribute__((noinline)) static void
vector(char *to, uint64_t seed)
{
    __m128i x = _mm_set1_epi32((int)seed);
    for (unsigned i = 0; i + 16 <= BYTES; i += 16) {
        x = _mm_add_epi32(x, _mm_set_epi32(1, 2, 3, 4));
        _mm_storeu_si128((__m128i *)(to + i), x);
        AS_WRITTEN;
    }
}

int
main(void)
{
    char *memory = aligned_alloc(4096, 5 * BYTES);
    uint64_t sum = 0;
    for (uint64_t round = 1; round < 3; round++) {
        general((uint64_t *)memory, round);
        constant((uint32_t *)(memory + BYTES), round);
        scalar((double *)(memory + 2 * BYTES), round);
        /* Aligned in every other round. */
        vector(memory + 3 * BYTES + (round & 1 ? 0 : 4), round);
    }
    for (unsigned i = 0; i < 4 * BYTES; i++)
        sum = sum * 31 + (unsigned char)memory[i];
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
