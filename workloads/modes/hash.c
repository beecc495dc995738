/* A chained hash table whose updates are failure-atomic (P1, section 3.2): elements are inserted, all looked at, then
 * removed. */
#include "../../include/prestore_region.h"
#include "../common/args.h"
#include "../common/prng.h"
#include "../common/result.h"
#include "nodes.h"

#include <stdio.h>

#define KIND UINT64_C(0x6d6f64652d686131)
#define MEASURED_REGION 1

struct table {
    uint64_t elements, free;
    uint64_t unused[6];
    struct log_space log;
    uint64_t buckets[]; /* a power of two; behind them the nodes */
};

static uint64_t buckets_for(uint64_t elements)
{
    uint64_t buckets = CACHE_LINE_SIZE / sizeof(uint64_t);

    while (buckets < elements)
        buckets *= 2;
    return buckets;
}

static size_t bytes_of(const uint64_t *shape)
{
    if (shape[0] > UINT64_C(1) << 40)
        return SIZE_MAX / 2;
    return sizeof(struct table) + buckets_for(shape[0]) * sizeof(uint64_t) + shape[0] * sizeof(struct node);
}

static struct nodes nodes_of(struct pool *pool, struct table *table)
{
    uint64_t elements = pool->root->shape[0];

    return (struct nodes){ pool, (struct node *)(table->buckets + buckets_for(elements)), elements, &table->free };
}

static uint64_t *bucket_of(const struct nodes *nodes, struct table *table, uint64_t key)
{
    return &table->buckets[prng_mix(key) & (buckets_for(nodes->count) - 1)];
}

static uint64_t value_of(uint64_t key)
{
    return prng_mix(key + UINT64_C(0x51ed));
}

static NOINLINE void insert(const struct nodes *nodes, struct table *table, struct log *log, uint64_t key)
{
    uint64_t *bucket = bucket_of(nodes, table, key);

    log_begin(log);
    struct node *node = nodes_take(nodes, log);
    log_store(log, &node->key, key);
    log_store(log, &node->value, value_of(key));
    log_store(log, &node->next, *bucket);
    log_store(log, bucket, pool_offset(nodes->pool, node));
    log_store(log, &table->elements, table->elements + 1);
    log_commit(log);
}

static NOINLINE uint64_t erase(const struct nodes *nodes, struct table *table, struct log *log, uint64_t key)
{
    uint64_t *link = bucket_of(nodes, table, key);

    while (*link != 0) {
        struct node *node = pool_at(nodes->pool, *link);
        if (node->key == key) {
            uint64_t value = node->value;
            log_begin(log);
            log_store(log, link, node->next);
            nodes_give(nodes, log, node);
            log_store(log, &table->elements, table->elements - 1);
            log_commit(log);
            return value;
        }
        link = &node->next;
    }
    return 0;
}

static NOINLINE uint64_t traverse(const struct nodes *nodes, const struct table *table)
{
    uint64_t buckets = buckets_for(nodes->count), sum = 0;

    for (uint64_t b = 0; b < buckets; b++)
        for (uint64_t at = table->buckets[b]; at != 0;) {
            const struct node *node = pool_at(nodes->pool, at);
            sum += node->key ^ node->value;
            at = node->next;
        }
    return sum;
}

/* Each element is what was inserted, in its bucket, once; and every node is in one list. */
static const char *wrong_in(struct pool *pool)
{
    struct table *table = (struct table *)pool->data;

    if (!log_recover(pool, &table->log))
        return "the log names what is not in the pool";
    struct nodes nodes = nodes_of(pool, table);
    uint64_t found = 0;
    for (uint64_t b = 0; b < buckets_for(nodes.count); b++) {
        uint64_t chained = nodes_in(&nodes, table->buckets[b]);
        if (chained > nodes.count)
            return "a chain does not end";
        found += chained;
        for (uint64_t at = table->buckets[b]; at != 0; at = nodes_at(&nodes, at)->next) {
            const struct node *node = nodes_at(&nodes, at);
            if (bucket_of(&nodes, table, node->key) != &table->buckets[b] || node->value != value_of(node->key))
                return "an element is not what was inserted";
            for (uint64_t after = node->next; after != 0; after = nodes_at(&nodes, after)->next)
                if (nodes_at(&nodes, after)->key == node->key)
                    return "an element is there twice";
        }
    }
    if (found != table->elements)
        return "there are not as many elements as were counted";
    return found + nodes_in(&nodes, table->free) == nodes.count ? NULL : "a node is lost";
}

int main(int argc, char **argv)
{
    struct pool_options options = { .file = "" };
    uint64_t elements = 4000, traversals = 1, sum = 0;
    const struct arg args[] = {
        ARG_COUNT_OF("elements", &elements, 1, 1e8, "elements inserted, then removed"),
        ARG_COUNT_OF("traversals", &traversals, 1, 1e6, "times that all are read in between"),
        POOL_ARGS(&options),
    };

    args_parse(argc, argv, "A persistent hash table (P1).", args, sizeof args / sizeof *args);
    if (options.check) {
        struct pool left = pool_left(&options, KIND, bytes_of);
        pool_verdict("modes_hash", wrong_in(&left));
    }
    struct pool pool = pool_make(&options, bytes_of(&elements));
    struct table *table = (struct table *)pool.data;
    pool.root->shape[0] = elements;
    struct nodes nodes = nodes_of(&pool, table);
    nodes_make(&nodes);
    pool_publish(&pool, KIND, &elements, 1);
    struct log log = log_open(&pool, &table->log);

    double start = result_now();
    PRESTORE_REGION_BEGIN(MEASURED_REGION);
    for (uint64_t key = 0; key < elements; key++)
        insert(&nodes, table, &log, key);
    for (uint64_t i = 0; i < traversals; i++)
        sum += traverse(&nodes, table);
    for (uint64_t key = 0; key < elements; key++)
        sum += erase(&nodes, table, &log, key);
    PRESTORE_REGION_END(MEASURED_REGION);
    result_print("modes_hash", 2 * elements, result_now() - start, sum);
    return 0;
}
