/* Nodes of linked structures: an array of them in the pool, and those that are free in a list. */
#ifndef WORKLOADS_NODES_H
#define WORKLOADS_NODES_H

#include "log.h"

/* Half a line. */
struct node {
    uint64_t next; /* offset, or 0 */
    uint64_t key, value;
    uint64_t unused;
};

struct nodes {
    struct pool *pool;
    struct node *all;
    uint64_t count;
    uint64_t *free; /* the first that is free */
};

/* Puts all nodes into the list; nobody else knows them yet. */
void nodes_make(const struct nodes *nodes);

/* Takes one out of the list, within a section; the structure has more nodes than it ever holds. */
struct node *nodes_take(const struct nodes *nodes, struct log *log);

/* Gives one back, within a section. */
void nodes_give(const struct nodes *nodes, struct log *log, struct node *node);

/* The node at an offset, NULL where none can be. */
struct node *nodes_at(const struct nodes *nodes, uint64_t offset);

/* Nodes in a list, or all and one more where it does not end or leaves the array. */
uint64_t nodes_in(const struct nodes *nodes, uint64_t first);

#endif
