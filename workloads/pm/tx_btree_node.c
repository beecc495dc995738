#include "tx_btree.h"

#include <string.h>

uint64_t btree_place(const struct btree_node *node, uint64_t key)
{
    uint64_t place = 0;

    while (place < node->items_used && node->items[place].key < key)
        place++;
    return place;
}

void btree_open(struct btree_node *node, uint64_t place, struct item item, uint64_t child)
{
    uint64_t behind = node->items_used - place;

    if (!DEFECT || !btree_is_leaf(node))
        CHANGE(node);
    memmove(&node->items[place + 1], &node->items[place], behind * sizeof *node->items);
    memmove(&node->children[place + 2], &node->children[place + 1], behind * sizeof *node->children);
    node->items[place] = item;
    node->children[place + 1] = child;
    node->items_used++;
}

void btree_close(struct btree_node *node, uint64_t place)
{
    uint64_t behind = node->items_used - place - 1;

    CHANGE(node);
    memmove(&node->items[place], &node->items[place + 1], behind * sizeof *node->items);
    memmove(&node->children[place + 1], &node->children[place + 2], behind * sizeof *node->children);
    node->children[node->items_used] = 0;
    node->items_used--;
}

void btree_split(struct btree_node *node, uint64_t child)
{
    struct btree_node *left = btree_child(node, child);
    uint64_t at = object_new(sizeof *left);
    struct btree_node *right = object_at(at);

    memcpy(right->items, left->items + HALF, (HALF - 1) * sizeof *right->items);
    memcpy(right->children, left->children + HALF, HALF * sizeof *right->children);
    right->items_used = HALF - 1;
    CHANGE(left);
    left->items_used = HALF - 1;
    memset(left->children + HALF, 0, HALF * sizeof *left->children);
    btree_open(node, child, left->items[HALF - 1], at);
}

void btree_merge(struct btree_node *node, uint64_t left)
{
    struct btree_node *to = btree_child(node, left), *from = btree_child(node, left + 1);
    uint64_t gone = node->children[left + 1];

    CHANGE(to);
    to->items[to->items_used] = node->items[left];
    memcpy(to->items + to->items_used + 1, from->items, from->items_used * sizeof *to->items);
    memcpy(to->children + to->items_used + 1, from->children, (from->items_used + 1) * sizeof *to->children);
    to->items_used += from->items_used + 1;
    btree_close(node, left);
    object_free(gone);
}

/* An item goes up from one side and the one above goes down to the other; with it a child goes over. */
static void from_left(struct btree_node *node, uint64_t child)
{
    struct btree_node *from = btree_child(node, child - 1), *to = btree_child(node, child);
    struct item *above = &node->items[child - 1];
    uint64_t over = from->children[from->items_used], first = to->children[0];

    btree_open(to, 0, *above, first);
    to->children[0] = over;
    CHANGE(above);
    *above = from->items[from->items_used - 1];
    btree_close(from, from->items_used - 1);
}

static void from_right(struct btree_node *node, uint64_t child)
{
    struct btree_node *from = btree_child(node, child + 1), *to = btree_child(node, child);
    struct item *above = &node->items[child];
    uint64_t over = from->children[0];

    btree_open(to, to->items_used, *above, over);
    CHANGE(above);
    *above = from->items[0];
    CHANGE(from);
    from->children[0] = from->children[1];
    btree_close(from, 0);
}

uint64_t btree_fill(struct btree_node *node, uint64_t child)
{
    if (btree_child(node, child)->items_used >= HALF)
        return child;
    if (child > 0 && btree_child(node, child - 1)->items_used >= HALF) {
        from_left(node, child);
    } else if (child < node->items_used && btree_child(node, child + 1)->items_used >= HALF) {
        from_right(node, child);
    } else {
        child -= child == node->items_used;
        btree_merge(node, child);
    }
    return child;
}
