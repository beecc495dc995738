/* A failure-atomic B+-tree without a log, after FAST and FAIR (Hwang et al., FAST 2018), which P2 runs: entries are shifted
 * word by word, a node that splits is complete without its new sibling's entry in the parent. Recovery finishes what was cut
 * off. Leaves lead to records, which are replaced and never changed. */
#include "bptree.h"

#include "low.h"
#include "slots.h"

#define KIND UINT64_C(0x706d2d6270747231)
#define MOST_LEVELS 24
#define WORDS 6

/* A line. */
struct record {
    uint64_t key, words[WORDS]; /* the value, and what follows from it */
    uint64_t unused;
};

struct tree {
    struct low low;
    uint64_t *root;
    struct slots nodes, records;
    pthread_mutex_t lock;
};

static struct tree tree = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Of a node that splits both halves keep half of the entries, and keep their keys to themselves. */
static uint64_t nodes_for(uint64_t keys)
{
    return keys / (ENTRIES / 4) + 2 * MOST_LEVELS;
}

/* Replacing a record takes another while the old one is there. */
static uint64_t records_for(uint64_t keys)
{
    return keys + 1;
}

static size_t bytes_of(uint64_t keys)
{
    return CACHE_LINE_SIZE + nodes_for(keys) * sizeof(struct tree_node) + records_for(keys) * sizeof(struct record);
}

static void attach(void)
{
    struct tree_node *nodes = (struct tree_node *)((char *)tree.low.data + CACHE_LINE_SIZE);

    tree.root = tree.low.data;
    slots_init(&tree.nodes, nodes, nodes_for(tree.low.keys), sizeof *nodes);
    slots_init(&tree.records, nodes + nodes_for(tree.low.keys), records_for(tree.low.keys), sizeof(struct record));
}

static void *at(uint64_t offset)
{
    return pool_at(&tree.low.pool, offset);
}

static uint64_t offset(const void *of)
{
    return pool_offset(&tree.low.pool, of);
}

static void set(uint64_t *word, uint64_t value)
{
    put(tree.low.pool.form, word, value);
    persist(tree.low.pool.form, word, sizeof *word);
}

static struct tree_node *node_new(const struct tree_node *as)
{
    struct tree_node *node = slots_take(&tree.nodes);

    for (size_t w = 0; w < sizeof *node / sizeof(uint64_t); w++)
        put(tree.low.pool.form, (uint64_t *)node + w, ((const uint64_t *)as)[w]);
    persist(tree.low.pool.form, node, sizeof *node);
    return node;
}

static struct tree_node *child_of(const struct tree_node *node, uint64_t key)
{
    int64_t entry = node_find(node, key);

    return at(entry < 0 ? node->leftmost : node->entries[entry].to);
}

/* The node of this level that the key belongs to. */
static struct tree_node *node_of(uint64_t level, uint64_t key)
{
    struct tree_node *node = at(*tree.root);

    while (node->level > level)
        node = child_of(node, key);
    return node;
}

/* The right half goes to a new sibling, which this answers. */
static NOINLINE struct tree_node *split(struct tree_node *node)
{
    struct tree_node right = { .leftmost = NOWHERE, .sibling = node->sibling, .level = node->level };
    uint64_t half = ENTRIES / 2, from = half;

    right.low = node->entries[half].key;
    if (node->level > 0)
        right.leftmost = node->entries[from++].to;
    for (uint64_t i = from; i < ENTRIES; i++)
        right.entries[i - from] = node->entries[i];
    struct tree_node *sibling = node_new(&right);
    set(&node->sibling, offset(sibling));
    node_truncate(tree.low.pool.form, node, half);
    return sibling;
}

/* Adds an entry to the node of the level that its key belongs to, and what that takes above. */
static void add(uint64_t level, uint64_t key, uint64_t to)
{
    struct tree_node *root = at(*tree.root);

    if (level > root->level) {
        struct tree_node above = { .leftmost = *tree.root, .level = level, .entries = { { key, to } } };
        set(tree.root, offset(node_new(&above)));
        return;
    }
    struct tree_node *node = node_of(level, key), *sibling = NULL;
    if (node_entries(node) == ENTRIES)
        sibling = split(node);
    node_insert(tree.low.pool.form, sibling && key >= sibling->low ? sibling : node, key, to);
    if (sibling)
        add(level + 1, sibling->low, offset(sibling));
}

static void *make(const struct command *command, const struct map_shape *shape)
{
    static const struct tree_node empty = { .leftmost = NOWHERE };

    tree.low = low_make(command, shape, bytes_of(shape->keys));
    attach();
    slots_open(&tree.nodes);
    slots_open(&tree.records);
    set(tree.root, offset(node_new(&empty)));
    low_publish(&tree.low, KIND, shape);
    return &tree;
}

/* What has gone to the sibling already goes from a node that was splitting. */
static void finish_split(struct tree_node *node)
{
    if (node->sibling == 0)
        return;
    const struct tree_node *sibling = at(node->sibling);
    for (uint64_t i = 0; i < node_entries(node); i++)
        if (node->entries[i].key >= sibling->low)
            node_truncate(tree.low.pool.form, node, i);
}

static const char *claim_records(const struct tree_node *leaf)
{
    for (uint64_t i = 0; i < node_entries(leaf); i++) {
        const struct record *record = at(leaf->entries[i].to);
        if (!slots_claim(&tree.records, record) || record->key != leaf->entries[i].key)
            return "an entry of a leaf leads to no record of its key";
    }
    return NULL;
}

/* Claims and repairs the nodes of a level, which begins with this one. */
static const char *claim_level(struct tree_node *node, uint64_t level)
{
    for (;;) {
        if (!slots_claim(&tree.nodes, node) || node->level != level)
            return "a link leads to no node of its level";
        node_repair(tree.low.pool.form, node);
        if (node->sibling != 0 && !slots_has(&tree.nodes, at(node->sibling)))
            return "a sibling is no node";
        finish_split(node);
        const char *wrong = level == 0 ? claim_records(node) : NULL;
        if (wrong || node->sibling == 0)
            return wrong;
        node = at(node->sibling);
    }
}

/* Nodes of a level that nothing above leads to are led to. */
static void finish_above(uint64_t level)
{
    struct tree_node *node = node_of(level, 0);

    while (node->sibling != 0) {
        node = at(node->sibling);
        if (((struct tree_node *)at(*tree.root))->level == level || node_of(level, node->low) != node)
            add(level + 1, node->low, offset(node));
    }
}

static void *left(const struct command *command, struct map_shape *shape, const char **wrong)
{
    tree.low = low_left(command, KIND, shape, bytes_of);
    attach();
    struct tree_node *first = at(*tree.root);
    if (!slots_has(&tree.nodes, first) || first->level >= MOST_LEVELS) {
        *wrong = "the root is no node";
        return NULL;
    }
    for (uint64_t level = first->level + 1; level-- > 0 && !*wrong;) {
        *wrong = claim_level(first, level);
        first = at(first->leftmost);
    }
    if (*wrong)
        return NULL;
    slots_open(&tree.nodes);
    slots_open(&tree.records);
    /* From above: what is below is found through it. */
    for (uint64_t level = ((struct tree_node *)at(*tree.root))->level + 1; level-- > 0;)
        finish_above(level);
    return &tree;
}

static NOINLINE uint64_t record_new(const struct update *update)
{
    enum form form = tree.low.pool.form;
    struct record *record = slots_take(&tree.records);

    put(form, &record->key, update->key);
    for (uint64_t i = 0; i < WORDS; i++)
        put(form, &record->words[i], i == 0 ? update->value : prng_mix(update->value + i));
    persist(form, record, sizeof *record);
    return offset(record);
}

/* The entry of the key in its leaf, or -1. */
static int64_t entry_of(const struct tree_node *leaf, uint64_t key)
{
    int64_t entry = node_find(leaf, key);

    return entry >= 0 && leaf->entries[entry].key == key ? entry : -1;
}

static void update(void *map, uint64_t thread, const struct update *update, uint64_t done)
{
    (void)map;
    pthread_mutex_lock(&tree.lock);
    struct tree_node *leaf = node_of(0, update->key);
    int64_t entry = entry_of(leaf, update->key);
    struct record *old = entry < 0 ? NULL : at(leaf->entries[entry].to);
    if (!old && update->value)
        add(0, update->key, record_new(update));
    else if (old && update->value)
        set(&leaf->entries[entry].to, record_new(update));
    else if (old)
        node_erase(tree.low.pool.form, leaf, (uint64_t)entry);
    if (old)
        slots_give(&tree.records, old);
    pthread_mutex_unlock(&tree.lock);
    counters_set(tree.low.pool.form, tree.low.counters, thread, done);
}

static uint64_t get(void *map, uint64_t key)
{
    (void)map;
    pthread_mutex_lock(&tree.lock);
    const struct tree_node *leaf = node_of(0, key);
    int64_t entry = entry_of(leaf, key);
    uint64_t value = entry < 0 ? 0 : ((const struct record *)at(leaf->entries[entry].to))->words[0];
    pthread_mutex_unlock(&tree.lock);
    return value;
}

static const char *walk_leaf(const struct tree_node *leaf, uint64_t end, struct content *content)
{
    const char *wrong = NULL;

    for (uint64_t i = 0; i < node_entries(leaf) && !wrong; i++) {
        const struct entry *entry = &leaf->entries[i];
        const struct record *record = at(entry->to);
        if (!entry_is_valid(leaf, i) || entry->key < leaf->low || entry->key >= end ||
            (i > 0 && entry->key <= entry[-1].key))
            return "the entries of a leaf are not in order";
        wrong = content_add(content, record->key, record->words[0]);
        for (uint64_t w = 1; w < WORDS; w++)
            if (record->words[w] != prng_mix(record->words[0] + w))
                wrong = "a value is torn";
    }
    return wrong;
}

static const char *walk(void *map, struct content *content)
{
    const struct tree_node *leaf = node_of(0, 0);
    const char *wrong = NULL;

    (void)map;
    while (!wrong) {
        const struct tree_node *next = leaf->sibling ? at(leaf->sibling) : NULL;
        if (node_of(0, leaf->low) != leaf)
            return "no way leads to a leaf";
        wrong = walk_leaf(leaf, next ? next->low : UINT64_MAX, content);
        if (!next)
            break;
        leaf = next;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct map_program program = {
        "pm_bptree", "A failure-atomic B+-tree.", 0, make, left, update, get, low_done, walk,
    };
    return map_main(argc, argv, &program);
}
