/* A node of the B+-tree, and the ways it is changed such that a power cut at any time leaves a node that is whole to
 * who reads it as below. Stores to one line become persistent in their order; a line is persistent before one is changed
 * that relies on it. After the failure-atomic shift of FAST and FAIR (Hwang et al., FAST 2018), which P2 runs. */
#ifndef WORKLOADS_BPTREE_H
#define WORKLOADS_BPTREE_H

#include "../modes/pool.h"

#define ENTRIES 12
/* What an entry leads to that is the leftmost of a leaf; leads nowhere. */
#define NOWHERE 1

/* Of no meaning if it leads where the entry before it leads (the first: where `leftmost` does). The first that leads to
 * 0, if any, is behind the last. */
struct entry {
    uint64_t key;
    uint64_t to; /* offset of a node, in leaves of a record */
};

struct tree_node {
    uint64_t leftmost; /* node with keys smaller than the first entry's; NOWHERE in a leaf */
    uint64_t sibling;  /* the next node of the level, or 0 */
    uint64_t level;    /* 0: leaf */
    uint64_t low;      /* the least key that belongs here */
    uint64_t unused[4];
    struct entry entries[ENTRIES];
};

/* Does the entry mean something? */
int entry_is_valid(const struct tree_node *node, uint64_t entry);

/* How many entries there are, of any meaning. */
uint64_t node_entries(const struct tree_node *node);

/* The last valid entry with a key that is not greater, or -1. */
int64_t node_find(const struct tree_node *node, uint64_t key);

/* Adds an entry; there is room, and none has the key. */
void node_insert(enum form form, struct tree_node *node, uint64_t key, uint64_t to);

/* Takes an entry out. */
void node_erase(enum form form, struct tree_node *node, uint64_t entry);

/* Nothing is there from this entry on. */
void node_truncate(enum form form, struct tree_node *node, uint64_t entry);

/* Takes out what a shift that was cut off has left. */
void node_repair(enum form form, struct tree_node *node);

#endif
