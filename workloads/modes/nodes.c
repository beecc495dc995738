#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>

void nodes_make(const struct nodes *nodes)
{
    enum form form = nodes->pool->form;

    for (uint64_t i = 0; i < nodes->count; i++)
        put(form, &nodes->all[i].next, i + 1 < nodes->count ? pool_offset(nodes->pool, &nodes->all[i + 1]) : 0);
    put(form, nodes->free, pool_offset(nodes->pool, nodes->all));
    persist(form, nodes->all, nodes->count * sizeof *nodes->all);
    persist(form, nodes->free, sizeof *nodes->free);
}

struct node *nodes_take(const struct nodes *nodes, struct log *log)
{
    if (*nodes->free == 0) {
        fprintf(stderr, "no node is free\n");
        exit(1);
    }
    struct node *node = pool_at(nodes->pool, *nodes->free);
    log_store(log, nodes->free, node->next);
    return node;
}

void nodes_give(const struct nodes *nodes, struct log *log, struct node *node)
{
    log_store(log, &node->next, *nodes->free);
    log_store(log, nodes->free, pool_offset(nodes->pool, node));
}

struct node *nodes_at(const struct nodes *nodes, uint64_t offset)
{
    uint64_t first = pool_offset(nodes->pool, nodes->all);

    if (offset < first || (offset - first) % sizeof *nodes->all || (offset - first) / sizeof *nodes->all >= nodes->count)
        return NULL;
    return pool_at(nodes->pool, offset);
}

uint64_t nodes_in(const struct nodes *nodes, uint64_t first)
{
    uint64_t found = 0;

    while (first != 0) {
        const struct node *node = nodes_at(nodes, first);
        if (!node || found == nodes->count)
            return nodes->count + 1;
        found++;
        first = node->next;
    }
    return found;
}
