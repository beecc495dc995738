/* A trie with values out of line, under puts and gets, as Masstree in the paper's section 7.2.3: readers check the version
 * of each node before and after they look into it, with fences between; a put writes its value front to back before. */
#include "../common/args.h"
#include "../common/attributes.h"
#include "../common/memory.h"
#include "../common/op.h"
#include "../common/prng.h"
#include "../common/result.h"
#include "../common/team.h"

#include <stdatomic.h>

#define FAN 16
#define LEVELS 5 /* FAN^LEVELS = 1 Mi keys */
#define MAX_KEYS (UINT64_C(1) << (4 * LEVELS))

struct node {
    _Atomic uint64_t version; /* odd: being changed */
    _Atomic(void *) children[FAN];
};

struct trie {
    uint64_t keys, ops, threads, value_size, puts, seed;
    int op;
    _Alignas(CACHE_LINE_SIZE) struct node root;
    uint64_t sums[TEAM_MAX_THREADS][CACHE_LINE_SIZE / sizeof(uint64_t)];
};

/* A thread's memory for nodes and values: fresh, and never given back. */
#define MAX_VALUE 4096

struct arena {
    char *next, *end;
};

static void *take(struct arena *arena, size_t bytes)
{
    const size_t whole = (bytes + CACHE_LINE_SIZE - 1) / CACHE_LINE_SIZE * CACHE_LINE_SIZE;
    const size_t chunk = (size_t)32 << 20;

    if (arena->next == NULL || arena->next + whole > arena->end) {
        arena->next = memory_fresh(chunk);
        arena->end = arena->next + chunk;
    }
    void *memory = arena->next;
    /* A line between two, so that each is written by itself. */
    arena->next += whole + CACHE_LINE_SIZE;
    return memory;
}

static NOINLINE void craft_value(uint64_t *value, size_t words, uint64_t key, uint64_t version)
{
    uint64_t word = prng_mix(key ^ version << 32);

    for (size_t i = 0; i < words; i++) {
        value[i] = word;
        word += 2 * key + 1;
    }
}

/* The same, made up elsewhere and copied around the caches. */
static NOINLINE void craft_value_skip(uint64_t *value, size_t words, uint64_t key, uint64_t version)
{
    uint64_t made[MAX_VALUE / sizeof(uint64_t)];

    craft_value(made, words, key, version);
    prestore_copy_skip(value, made, words * sizeof *made);
    prestore_fence();
}

static NOINLINE uint64_t read_value(const uint64_t *value, size_t words)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < words; i++)
        sum += value[i] ^ sum << 1;
    return sum;
}

static uint64_t stable_version(struct node *node)
{
    uint64_t version;
    do
        version = atomic_load_explicit(&node->version, memory_order_acquire);
    while (version & 1);
    atomic_thread_fence(memory_order_seq_cst);
    return version;
}

/* What hangs at `digit`, read between two looks at the node's version. */
static void *child_at(struct node *node, unsigned digit)
{
    for (;;) {
        const uint64_t version = stable_version(node);
        void *child = atomic_load_explicit(&node->children[digit], memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
        if (atomic_load_explicit(&node->version, memory_order_relaxed) == version)
            return child;
    }
}

/* Hangs `new` at `digit` if `old` is there; returns what is. */
static void *hang(struct node *node, unsigned digit, void *old, void *new)
{
    for (;;) {
        uint64_t version = stable_version(node);
        if (!atomic_compare_exchange_strong(&node->version, &version, version | 1))
            continue;
        void *found = atomic_load_explicit(&node->children[digit], memory_order_relaxed);
        if (found == old)
            atomic_store_explicit(&node->children[digit], new, memory_order_relaxed);
        atomic_store_explicit(&node->version, version + 2, memory_order_release);
        return found;
    }
}

static unsigned digit_of(uint64_t key, int level)
{
    return key >> 4 * (LEVELS - 1 - level) & (FAN - 1);
}

/* The node that a key's value hangs at; made on the way if `arena` is given. */
static struct node *find(struct trie *trie, struct arena *arena, uint64_t key)
{
    struct node *node = &trie->root;

    for (int level = 0; level < LEVELS - 1; level++) {
        struct node *child = child_at(node, digit_of(key, level));
        if (child == NULL) {
            if (arena == NULL)
                return NULL;
            struct node *made = take(arena, sizeof *made);
            struct node *other = hang(node, digit_of(key, level), NULL, made);
            child = other ? other : made;
        }
        node = child;
    }
    return node;
}

static NOINLINE void put(struct trie *trie, struct arena *arena, uint64_t key, uint64_t version)
{
    const size_t words = trie->value_size / sizeof(uint64_t);
    uint64_t *value = take(arena, trie->value_size);

    if (trie->op == OP_SKIP)
        craft_value_skip(value, words, key, version);
    else
        craft_value(value, words, key, version);
    op_apply(value, trie->value_size, (enum op)trie->op);
    struct node *node = find(trie, arena, key);
    for (void *old = child_at(node, digit_of(key, LEVELS - 1));;) {
        void *found = hang(node, digit_of(key, LEVELS - 1), old, value);
        if (found == old)
            return;
        old = found;
    }
}

static NOINLINE uint64_t get(struct trie *trie, uint64_t key)
{
    struct node *node = find(trie, NULL, key);
    const uint64_t *value = node ? child_at(node, digit_of(key, LEVELS - 1)) : NULL;

    return value ? read_value(value, trie->value_size / sizeof *value) : 0;
}

static void run(void *context, uint64_t thread)
{
    struct trie *trie = context;
    struct arena arena = { 0 };
    struct prng prng = prng_new(trie->seed, thread);
    uint64_t sum = 0;

    for (uint64_t i = 0; i < team_share(trie->keys, trie->threads, thread); i++)
        put(trie, &arena, prng_below(&prng, trie->keys), i);
    for (uint64_t i = 0; i < team_share(trie->ops, trie->threads, thread); i++) {
        const uint64_t key = prng_below(&prng, trie->keys);
        if (prng_below(&prng, 100) < trie->puts)
            put(trie, &arena, key, i);
        else
            sum += get(trie, key);
    }
    trie->sums[thread][0] = sum;
}

int main(int argc, char **argv)
{
    static struct trie trie = { .keys = 32 << 10, .ops = 100000, .threads = 1, .value_size = 1024, .puts = 50, .seed = 1 };
    static const char *const ops[] = { "none", "clean", "skip", NULL };
    static const enum op chosen[] = { OP_NONE, OP_CLEAN, OP_SKIP };
    const struct arg args[] = {
        ARG_COUNT_OF("keys", &trie.keys, 1, MAX_KEYS, "keys, as many are put before the requests"),
        ARG_COUNT_OF("ops", &trie.ops, 1, 1e12, "requests, by all threads together"),
        ARG_COUNT_OF("puts", &trie.puts, 0, 100, "puts in a hundred requests; the others get"),
        ARG_COUNT_OF("value-size", &trie.value_size, 64, MAX_VALUE, "bytes of a value, a multiple of 64"),
        ARG_COUNT_OF("threads", &trie.threads, 1, TEAM_MAX_THREADS, "threads"),
        ARG_COUNT_OF("seed", &trie.seed, 0, 1e18, "seed of the requests"),
        ARG_CHOICE_OF("op", &trie.op, ops, "pre-store applied to each value crafted"),
    };

    args_parse(argc, argv, "Puts and gets in a trie.", args, sizeof args / sizeof *args);
    if (trie.value_size % 64)
        args_fail("--value-size must be a multiple of 64");
    trie.op = chosen[trie.op];
    double start = result_now();
    team_run(trie.threads, run, &trie);
    double seconds = result_now() - start;

    uint64_t sum = 0;
    for (uint64_t t = 0; t < trie.threads; t++)
        sum += trie.sums[t][0];
    result_print("trie", trie.ops, seconds, trie.threads == 1 ? sum : 0);
    return 0;
}
