/* Stores that have no non-temporal form that means the same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES (3u << 20)
#define AS_WRITTEN __asm__ volatile("" ::: "memory")

__attribute__((noinline)) static void
bytes(char *to)
{
    for (unsigned i = 0; i < BYTES; i++) {
        to[i] = (char)i;
        AS_WRITTEN;
    }
}

__attribute__((noinline)) static void
in_place(uint64_t *to)
{
    for (unsigned i = 0; i < BYTES / 8; i++)
        __asm__ volatile("addq %1, %0" : "+m"(to[i]) : "r"((uint64_t)i));
}

__attribute__((noinline)) static void
atomic(uint64_t *to)
{
    for (unsigned i = 0; i < BYTES / 8; i++)
        __atomic_fetch_add(&to[i], i, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void
string(char *to)
{
    for (unsigned i = 0; i < BYTES; i += 4096) {
        char *at = to + i;
        unsigned long n = 4096;
        __asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(7) : "memory");
    }
}

__attribute__((noinline)) static void
mmx(char *to)
{
    for (unsigned i = 0; i < BYTES; i += 16)
        __asm__ volatile("movd %2, %%mm0; movd %%mm0, %0; movq %%mm0, %1; emms"
                         : "=m"(*(uint32_t *)(to + i)), "=m"(*(uint64_t *)(to + i + 8))
                         : "r"(i)
                         : "mm0");
}

__attribute__((noinline)) static void
stack(void)
{
    volatile uint64_t local[BYTES / 8];
    for (unsigned i = 0; i < BYTES / 8; i++)
        local[i] = i;
}

int
main(void)
{
    char *memory = calloc(5, BYTES);
    uint64_t sum = 0;
    bytes(memory);
    in_place((uint64_t *)(memory + BYTES));
    atomic((uint64_t *)(memory + 2 * BYTES));
    string(memory + 3 * BYTES);
    mmx(memory + 4 * BYTES);
    stack();
    for (unsigned i = 0; i < 5 * BYTES; i++)
        sum = sum * 31 + (unsigned char)memory[i];
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
