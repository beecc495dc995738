/* The YCSB request streams (Cooper et al., SoCC'10): which key, and get or put. */
#ifndef KV_REQUESTS_H
#define KV_REQUESTS_H

#include "../common/prng.h"

#include <stdbool.h>

enum workload { WORKLOAD_A, WORKLOAD_B, WORKLOAD_C, WORKLOAD_D };
enum distribution { ZIPFIAN, UNIFORM };

extern const char *const WORKLOADS[];
extern const char *const DISTRIBUTIONS[];

/* Zipfian ranks 0..items-1, rank 0 the most popular (Gray et al., SIGMOD'94, as YCSB uses it). */
struct zipf {
    double items, zeta, first_two, alpha, eta;
};

struct zipf zipf_new(double items, double theta);
uint64_t zipf_next(const struct zipf *zipf, struct prng *prng);

struct requests {
    enum workload workload;
    enum distribution distribution;
    struct zipf zipf;
};

/* `keys` is the number of keys loaded before the run. */
struct requests requests_new(enum workload workload, enum distribution distribution, uint64_t keys, double theta);

/* Does the next request write? */
bool requests_next_is_put(const struct requests *requests, struct prng *prng);

/* The index, 0..keys-1, of the key to read (or, but for workload D, to write); keys - 1 is the latest. */
uint64_t requests_next_key(const struct requests *requests, struct prng *prng, uint64_t keys);

#endif
