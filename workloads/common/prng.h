/* A small seeded generator (xorshift64*, Vigna 2016): a run is a function of its seed alone. */
#ifndef WORKLOADS_PRNG_H
#define WORKLOADS_PRNG_H

#include <stdint.h>

struct prng {
    uint64_t state;
};

/* Spreads the bits of a word over all of it (the finaliser of splitmix64). */
static inline uint64_t prng_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Streams of one seed (a thread each, say) are unrelated. */
static inline struct prng prng_new(uint64_t seed, uint64_t stream)
{
    struct prng prng = { prng_mix(seed + UINT64_C(0x9e3779b97f4a7c15) * (stream + 1)) };
    if (prng.state == 0)
        prng.state = 1;
    return prng;
}

static inline uint64_t prng_next(struct prng *prng)
{
    uint64_t x = prng->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    prng->state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* Uniform in 0..bound-1, for bounds up to 2^32. */
static inline uint64_t prng_below(struct prng *prng, uint64_t bound)
{
    return ((prng_next(prng) >> 32) * bound) >> 32;
}

/* Uniform in [0, 1). */
static inline double prng_unit(struct prng *prng)
{
    return (double)(prng_next(prng) >> 11) * 0x1p-53;
}

#endif
