#include "value.h"

#include "../../include/prestore.h"
#include "../common/attributes.h"
#include "../common/prng.h"

#define LINE_WORDS (CACHE_LINE_SIZE / sizeof(uint64_t))

static inline uint64_t first_word(uint64_t key, uint64_t version)
{
    return prng_mix(key ^ (version << 32));
}

/* Words of a value form an arithmetic sequence: cheap to make up, and any torn value shows. */
static inline uint64_t word_step(uint64_t first)
{
    return first << 1 | 1;
}

NOINLINE void craft_value(uint64_t *value, size_t size, uint64_t key, uint64_t version)
{
    uint64_t word = first_word(key, version);
    const uint64_t step = word_step(word);

    for (uint64_t *end = value + size / sizeof *value; value < end; value += LINE_WORDS) {
#pragma GCC unroll 8
        for (size_t i = 0; i < LINE_WORDS; i++) {
            value[i] = word;
            word += step;
        }
    }
}

NOINLINE void craft_value_skip(uint64_t *value, size_t size, uint64_t key, uint64_t version)
{
    uint64_t word = first_word(key, version);
    const uint64_t step = word_step(word);

    prestore_writer_t writer;

    prestore_writer_open(&writer, value);
    for (size_t i = 0; i < size / sizeof *value; i++) {
        prestore_writer_put8(&writer, word);
        word += step;
    }
    prestore_writer_close(&writer);
    prestore_fence();
}

NOINLINE uint64_t read_value(const uint64_t *value, size_t size)
{
    uint64_t sum = 0;

    for (const uint64_t *end = value + size / sizeof *value; value < end; value += LINE_WORDS) {
#pragma GCC unroll 8
        for (size_t i = 0; i < LINE_WORDS; i++)
            sum = (sum << 1 | sum >> 63) ^ value[i];
    }
    return sum;
}
