/* Random counting, as the ranking of keys in NAS IS: small writes at random places, where no pre-store helps. */
#include "../common/args.h"
#include "../common/attributes.h"
#include "../common/memory.h"
#include "../common/prng.h"
#include "../common/result.h"

#include <stdio.h>

static NOINLINE void create_keys(uint32_t *keys, uint64_t count, uint64_t max_key, struct prng *prng)
{
    for (uint64_t i = 0; i < count; i++)
        keys[i] = (uint32_t)prng_below(prng, max_key);
}

static NOINLINE void rank(uint32_t *key_buff, const uint32_t *keys, uint64_t count)
{
#pragma GCC unroll 4
    for (uint64_t i = 0; i < count; i++)
        key_buff[keys[i]]++;
}

static uint64_t count_all(const uint32_t *key_buff, uint64_t max_key)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < max_key; i++)
        sum += key_buff[i];
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t count = 2 << 20, max_key = 16 << 20, iters = 2, seed = 1;
    int verify = 0;
    const struct arg args[] = {
        ARG_COUNT_OF("keys", &count, 1, 1e10, "keys to rank"),
        ARG_COUNT_OF("max-key", &max_key, 1, UINT32_MAX, "counters, of 4 bytes; keys are below"),
        ARG_COUNT_OF("iters", &iters, 1, 1e6, "rankings"),
        ARG_CHOICE_OF("verify", &verify, ARG_NO_YES, "add all counters up at the end"),
        ARG_COUNT_OF("seed", &seed, 0, 1e18, "seed of the keys"),
    };

    args_parse(argc, argv, "Counts random keys, as NAS IS does.", args, sizeof args / sizeof *args);
    uint32_t *keys = memory_fresh(count * sizeof *keys);
    uint32_t *key_buff = memory_fresh(max_key * sizeof *key_buff);
    struct prng prng = prng_new(seed, 0);

    create_keys(keys, count, max_key, &prng);
    double start = result_now();
    for (uint64_t i = 0; i < iters; i++)
        rank(key_buff, keys, count);
    double seconds = result_now() - start;

    if (verify && count_all(key_buff, max_key) != count * iters) {
        fprintf(stderr, "rank: the counters do not add up to %llu\n", (unsigned long long)(count * iters));
        return 1;
    }
    result_print("rank", count * iters, seconds, key_buff[keys[0]] ^ ((uint64_t)keys[count - 1] << 32));
    return 0;
}
