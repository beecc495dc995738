/* A B-tree of libpmemobj objects. On the way down full nodes are split and half-full ones filled, so that no way up is
 * needed. */
#include "tx_btree.h"

#define MOST_DEPTH 32

static void make(uint64_t *words)
{
    words[0] = object_new(sizeof(struct btree_node));
}

static struct btree_node *find(const uint64_t *words, uint64_t key, uint64_t *place)
{
    struct btree_node *node = object_at(words[0]);

    for (;;) {
        *place = btree_place(node, key);
        if (*place < node->items_used && node->items[*place].key == key)
            return node;
        if (btree_is_leaf(node))
            return NULL;
        node = btree_child(node, *place);
    }
}

static void insert(uint64_t *words, uint64_t key, uint64_t value)
{
    uint64_t place;
    struct btree_node *node = find(words, key, &place);

    if (node) {
        CHANGE(&node->items[place].value);
        node->items[place].value = value;
        return;
    }
    node = object_at(words[0]);
    if (node->items_used == MOST_ITEMS) {
        uint64_t above = object_new(sizeof *node);
        node = object_at(above);
        node->children[0] = words[0];
        CHANGE(&words[0]);
        words[0] = above;
        btree_split(node, 0);
    }
    while (!btree_is_leaf(node)) {
        place = btree_place(node, key);
        if (btree_child(node, place)->items_used == MOST_ITEMS) {
            btree_split(node, place);
            place += node->items[place].key < key;
        }
        node = btree_child(node, place);
    }
    btree_open(node, btree_place(node, key), (struct item){ key, value }, 0);
}

/* Takes the first or last item below out. */
static struct item take_end(struct btree_node *node, int last)
{
    while (!btree_is_leaf(node))
        node = btree_child(node, btree_fill(node, last ? node->items_used : 0));
    struct item item = node->items[last ? node->items_used - 1 : 0];
    btree_close(node, last ? node->items_used - 1 : 0);
    return item;
}

/* The key is below, and one more item than must be is in the node, unless it is the root. */
static void take_out(struct btree_node *node, uint64_t key)
{
    for (;;) {
        uint64_t place = btree_place(node, key);
        if (place == node->items_used || node->items[place].key != key) {
            node = btree_child(node, btree_fill(node, place));
            continue;
        }
        if (btree_is_leaf(node)) {
            btree_close(node, place);
            return;
        }
        for (uint64_t side = 0; side < 2; side++)
            if (btree_child(node, place + side)->items_used >= HALF) {
                CHANGE(&node->items[place]);
                node->items[place] = take_end(btree_child(node, place + side), side == 0);
                return;
            }
        btree_merge(node, place);
        node = btree_child(node, place);
    }
}

static void erase(uint64_t *words, uint64_t key)
{
    take_out(object_at(words[0]), key);
    struct btree_node *root = object_at(words[0]);
    if (root->items_used == 0 && !btree_is_leaf(root)) {
        uint64_t old = words[0];
        CHANGE(&words[0]);
        words[0] = root->children[0];
        object_free(old);
    }
}

static uint64_t get(const uint64_t *words, uint64_t key)
{
    uint64_t place;
    const struct btree_node *node = find(words, key, &place);

    return node ? node->items[place].value : 0;
}

/* Keys below are at least `from` and less than `end`. */
static const char *walk_node(const struct btree_node *node, uint64_t from, uint64_t end, int depth,
                             struct content *content, uint64_t *objects)
{
    static int leaf_depth;
    int is_root = depth == 0;

    if (is_root)
        leaf_depth = 0;
    if (!node || depth == MOST_DEPTH || node->items_used > MOST_ITEMS || (!is_root && node->items_used < HALF - 1))
        return "a link leads to no node, or to one that has not as many items as it must";
    ++*objects;
    if (btree_is_leaf(node)) {
        if (leaf_depth != 0 && leaf_depth != depth)
            return "leaves are not all as deep";
        leaf_depth = depth;
    }
    for (uint64_t i = 0; i <= node->items_used; i++) {
        uint64_t to = i < node->items_used ? node->items[i].key : end;
        const char *wrong = to < from || to > end ? "items are not in order" : NULL;
        if (!wrong && !btree_is_leaf(node))
            wrong = walk_node(btree_child(node, i), from, to, depth + 1, content, objects);
        if (!wrong && i < node->items_used)
            wrong = content_add(content, to, node->items[i].value);
        if (wrong)
            return wrong;
        from = to + 1;
    }
    return NULL;
}

static const char *walk(const uint64_t *words, struct content *content, uint64_t *objects)
{
    return walk_node(object_at(words[0]), 0, UINT64_MAX, 0, content, objects);
}

int main(int argc, char **argv)
{
    static const struct object_map map = {
        "pm_tx_btree", "A B-tree of libpmemobj transactions.", make, insert, erase, get, walk,
    };
    return objects_main(argc, argv, &map);
}
