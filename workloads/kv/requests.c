#include "requests.h"

#include <math.h>
#include <stddef.h>

/* YCSB draws its scrambled Zipfian ranks from this many items, however many keys there are, and hashes them onto the
 * keys: the head stays as hot as in a huge store. */
#define SCRAMBLED_ITEMS 1e10
/* Terms of the harmonic sum that are added one by one; the tail is an integral, right to 12 digits. */
#define ZETA_EXACT 10000

const char *const WORKLOADS[] = { "A", "B", "C", "D", NULL };
const char *const DISTRIBUTIONS[] = { "zipfian", "uniform", NULL };

static const double PUT_SHARE[] = { [WORKLOAD_A] = 0.5, [WORKLOAD_B] = 0.05, [WORKLOAD_C] = 0, [WORKLOAD_D] = 0.05 };

static double zeta(double items, double theta)
{
    double sum = 0;
    double exact = items < ZETA_EXACT ? items : ZETA_EXACT;

    for (double i = 1; i <= exact; i++)
        sum += pow(i, -theta);
    if (items > exact) {
        /* Euler and Maclaurin's formula, to first order. */
        sum += (pow(items, 1 - theta) - pow(exact, 1 - theta)) / (1 - theta);
        sum += (pow(items, -theta) - pow(exact, -theta)) / 2;
    }
    return sum;
}

struct zipf zipf_new(double items, double theta)
{
    struct zipf zipf = { .items = items, .zeta = zeta(items, theta), .alpha = 1 / (1 - theta) };
    zipf.first_two = 1 + pow(0.5, theta);
    zipf.eta = (1 - pow(2 / items, 1 - theta)) / (1 - zeta(2, theta) / zipf.zeta);
    return zipf;
}

uint64_t zipf_next(const struct zipf *zipf, struct prng *prng)
{
    double u = prng_unit(prng);
    double uz = u * zipf->zeta;

    if (uz < 1)
        return 0;
    if (uz < zipf->first_two)
        return 1;
    return (uint64_t)(zipf->items * pow(zipf->eta * u - zipf->eta + 1, zipf->alpha));
}

struct requests requests_new(enum workload workload, enum distribution distribution, uint64_t keys, double theta)
{
    double items = workload == WORKLOAD_D ? (double)keys : SCRAMBLED_ITEMS;
    return (struct requests){
        .workload = workload,
        .distribution = distribution,
        .zipf = distribution == ZIPFIAN ? zipf_new(items, theta) : (struct zipf){ 0 },
    };
}

bool requests_next_is_put(const struct requests *requests, struct prng *prng)
{
    return prng_unit(prng) < PUT_SHARE[requests->workload];
}

uint64_t requests_next_key(const struct requests *requests, struct prng *prng, uint64_t keys)
{
    if (requests->distribution == UNIFORM)
        return prng_below(prng, keys);
    uint64_t rank = zipf_next(&requests->zipf, prng);
    if (requests->workload == WORKLOAD_D)
        return keys - 1 - (rank < keys ? rank : keys - 1);
    return prng_mix(rank + 1) % keys;
}
