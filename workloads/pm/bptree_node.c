#include "bptree.h"

#include "command.h"

_Static_assert(sizeof(struct tree_node) % CACHE_LINE_SIZE == 0, "entries lie in lines");

static uint64_t before(const struct tree_node *node, uint64_t entry)
{
    return entry == 0 ? node->leftmost : node->entries[entry - 1].to;
}

int entry_is_valid(const struct tree_node *node, uint64_t entry)
{
    return node->entries[entry].to != before(node, entry);
}

uint64_t node_entries(const struct tree_node *node)
{
    uint64_t entries = 0;

    while (entries < ENTRIES && node->entries[entries].to != 0)
        entries++;
    return entries;
}

int64_t node_find(const struct tree_node *node, uint64_t key)
{
    int64_t found = -1;

    for (uint64_t i = 0; i < ENTRIES && node->entries[i].to != 0; i++)
        if (entry_is_valid(node, i) && node->entries[i].key <= key)
            found = (int64_t)i;
    return found;
}

static int begins_line(const struct tree_node *node, uint64_t entry)
{
    return (uintptr_t)&node->entries[entry] % CACHE_LINE_SIZE == 0;
}

void node_insert(enum form form, struct tree_node *node, uint64_t key, uint64_t to)
{
    struct entry *entries = node->entries;
    uint64_t at = node_entries(node);

    /* The end first, or what was left behind it by earlier entries would be there again. */
    if (at + 1 < ENTRIES && entries[at + 1].to != 0) {
        put(form, &entries[at + 1].to, 0);
        if (begins_line(node, at + 1))
            persist(form, &entries[at + 1], sizeof *entries);
    }
    for (; at > 0 && entries[at - 1].key > key; at--) {
        /* As soon as it leads there it means nothing; it does again when the one before it does not lead there. */
        put(form, &entries[at].to, entries[at - 1].to);
        put(form, &entries[at].key, entries[at - 1].key);
        if (!DEFECT && begins_line(node, at))
            persist(form, &entries[at], sizeof *entries);
    }
    put(form, &entries[at].to, before(node, at));
    put(form, &entries[at].key, key);
    put(form, &entries[at].to, to);
    persist(form, &entries[at], DEFECT ? (ENTRIES - at) * sizeof *entries : sizeof *entries);
}

void node_erase(enum form form, struct tree_node *node, uint64_t entry)
{
    struct entry *entries = node->entries;
    uint64_t at = entry, last = node_entries(node) - 1;

    put(form, &entries[at].to, before(node, at));
    for (; at < last; at++) {
        put(form, &entries[at].key, entries[at + 1].key);
        put(form, &entries[at].to, entries[at + 1].to);
        if (begins_line(node, at + 1))
            persist(form, &entries[at], sizeof *entries);
    }
    put(form, &entries[at].to, 0);
    persist(form, &entries[at], sizeof *entries);
}

void node_truncate(enum form form, struct tree_node *node, uint64_t entry)
{
    put(form, &node->entries[entry].to, 0);
    persist(form, &node->entries[entry], sizeof *node->entries);
}

void node_repair(enum form form, struct tree_node *node)
{
    for (uint64_t i = node_entries(node); i-- > 0;)
        if (!entry_is_valid(node, i))
            node_erase(form, node, i);
}
