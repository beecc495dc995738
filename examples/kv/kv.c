/* A key-value store as small as can be: a put crafts a new value in memory of its own, then swaps it in; a get reads the
 * whole value. Half of the requests are puts, as in YCSB A. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KEYS (1u << 15)
#define VALUE_WORDS 128
/* Replaced values wait here for their reuse, so that nobody reads one that is being rewritten. */
#define SPARE (1u << 16)

static uint64_t *_Atomic table[KEYS];
static uint64_t *spare[SPARE];
static uint64_t spare_next;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static __attribute__((noinline)) void craft_value(uint64_t *value, uint64_t seed)
{
    for (int i = 0; i < VALUE_WORDS; i++)
        value[i] = seed + (uint64_t)i * seed;
}

static __attribute__((noinline)) void put(uint64_t key, uint64_t seed)
{
    uint64_t *value = spare[spare_next % SPARE];

    craft_value(value, seed);
    spare[spare_next++ % SPARE] = atomic_exchange(&table[key], value);
}

static __attribute__((noinline)) uint64_t get(uint64_t key)
{
    const uint64_t *value = atomic_load_explicit(&table[key], memory_order_acquire);
    uint64_t sum = 0;

    for (int i = 0; i < VALUE_WORDS; i++)
        sum = sum * 3 + value[i];
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t requests = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
    uint64_t random = 88172645463325252u, checksum = 0;
    uint64_t *memory = aligned_alloc(64, (size_t)(KEYS + SPARE) * (VALUE_WORDS + 8) * sizeof *memory);
    struct timespec start, end;

    if (!memory) {
        perror("kv");
        return 1;
    }
    /* Values lie a line apart, as blocks of an allocator do. */
    for (uint64_t i = 0; i < SPARE; i++)
        spare[i] = memory + (VALUE_WORDS + 8) * i;
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t *value = memory + (VALUE_WORDS + 8) * (SPARE + i);
        craft_value(value, i);
        atomic_init(&table[i], value);
    }
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (uint64_t i = 0; i < requests; i++) {
        uint64_t word = next_random(&random), key = (word >> 33) % KEYS;
        if (word & 1)
            put(key, word);
        else
            checksum += get(key);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
    printf("kv: requests=%llu checksum=%016llx seconds=%.6f\n", (unsigned long long)requests,
           (unsigned long long)checksum, seconds);
    return 0;
}
