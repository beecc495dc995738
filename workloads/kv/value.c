#include "value.h"

#include "../common/attributes.h"
#include "../common/prestore_op.h"
#include "../common/prng.h"

#define MULTIPLIER UINT64_C(6364136223846793005)

static inline uint64_t first_word(uint64_t key, uint64_t version)
{
    return prng_mix(key ^ (version << 32));
}

NOINLINE void craft_value(uint64_t *value, size_t size, uint64_t key, uint64_t version)
{
    uint64_t word = first_word(key, version);

#pragma GCC unroll 8
    for (size_t i = 0; i < size / sizeof *value; i++) {
        word = word * MULTIPLIER + key;
        value[i] = word;
    }
}

NOINLINE void craft_value_skip(uint64_t *value, size_t size, uint64_t key, uint64_t version)
{
    uint64_t word = first_word(key, version);

#pragma GCC unroll 8
    for (size_t i = 0; i < size / sizeof *value; i++) {
        word = word * MULTIPLIER + key;
        prestore_store_skip(&value[i], word);
    }
    prestore_skip_fence();
}

NOINLINE uint64_t read_value(const uint64_t *value, size_t size)
{
    uint64_t sum = 0;

#pragma GCC unroll 8
    for (size_t i = 0; i < size / sizeof *value; i++)
        sum = (sum << 1 | sum >> 63) ^ value[i];
    return sum;
}
