/* A node of the B-tree of libpmemobj objects, and what is done to one. */
#ifndef WORKLOADS_TX_BTREE_H
#define WORKLOADS_TX_BTREE_H

#include "objects.h"

/* But for the root, a node has HALF - 1 items at least; with HALF or more one can be taken out. */
#define HALF 4
#define MOST_ITEMS (2 * HALF - 1)

struct item {
    uint64_t key, value;
};

struct btree_node {
    uint64_t items_used;
    struct item items[MOST_ITEMS];
    uint64_t children[MOST_ITEMS + 1]; /* all 0 in a leaf */
};

/* The first item with a key that is not smaller. */
uint64_t btree_place(const struct btree_node *node, uint64_t key);

static inline struct btree_node *btree_child(const struct btree_node *node, uint64_t child)
{
    return object_at(node->children[child]);
}

static inline int btree_is_leaf(const struct btree_node *node)
{
    return node->children[0] == 0;
}

/* Makes room for an item, and a child behind it. */
void btree_open(struct btree_node *node, uint64_t place, struct item item, uint64_t child);

/* Takes an item out, and the child behind it. */
void btree_close(struct btree_node *node, uint64_t place);

/* A child that is full becomes two. */
void btree_split(struct btree_node *node, uint64_t child);

/* Two children that are half full, and the item between them, become one. */
void btree_merge(struct btree_node *node, uint64_t left);

/* Sees to it that an item can be taken out of a child. Answers which child it is now. */
uint64_t btree_fill(struct btree_node *node, uint64_t child);

#endif
