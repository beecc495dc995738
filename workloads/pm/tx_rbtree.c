/* A left-leaning red-black tree (Sedgewick 2008) of libpmemobj objects. */
#include "objects.h"

#define MOST_DEPTH 128

struct node {
    uint64_t key, value;
    uint64_t links[2]; /* to smaller keys and to greater ones */
    uint64_t red;      /* the link that leads here is */
};

static struct node *at(uint64_t link)
{
    return object_at(link);
}

static int is_red(uint64_t link)
{
    return link != 0 && at(link) && at(link)->red;
}

static struct node *changed(uint64_t link)
{
    CHANGE(at(link));
    return at(link);
}

/* The node's child on the `side` takes its place and colour. */
static uint64_t rotate(uint64_t link, int side)
{
    struct node *node = changed(link);
    uint64_t up = node->links[side];
    struct node *child = changed(up);

    node->links[side] = child->links[!side];
    child->links[!side] = link;
    child->red = node->red;
    node->red = 1;
    return up;
}

static void flip(uint64_t link)
{
    struct node *node = changed(link);

    node->red = !node->red;
    for (int side = 0; side < 2; side++) {
        struct node *child = changed(node->links[side]);
        child->red = !child->red;
    }
}

static uint64_t balance(uint64_t link)
{
    if (is_red(at(link)->links[1]) && !is_red(at(link)->links[0]))
        link = rotate(link, 1);
    if (is_red(at(link)->links[0]) && is_red(at(at(link)->links[0])->links[0]))
        link = rotate(link, 0);
    if (is_red(at(link)->links[0]) && is_red(at(link)->links[1]))
        flip(link);
    return link;
}

static void set_link(uint64_t link, int side, uint64_t to)
{
    if (at(link)->links[side] != to)
        changed(link)->links[side] = to;
}

static uint64_t insert_below(uint64_t link, uint64_t key, uint64_t value)
{
    if (link == 0) {
        link = object_new(sizeof(struct node));
        *at(link) = (struct node){ .key = key, .value = value, .red = 1 };
        return link;
    }
    if (at(link)->key == key) {
        /* The defect: the transaction does not know of it. */
        if (!DEFECT)
            CHANGE(&at(link)->value);
        at(link)->value = value;
        return link;
    }
    int side = key > at(link)->key;
    set_link(link, side, insert_below(at(link)->links[side], key, value));
    return balance(link);
}

/* Makes the child on the side, or its smaller child, red. */
static uint64_t red_to(uint64_t link, int side)
{
    flip(link);
    if (side == 0 && is_red(at(at(link)->links[1])->links[0])) {
        set_link(link, 1, rotate(at(link)->links[1], 0));
        link = rotate(link, 1);
        flip(link);
    } else if (side == 1 && is_red(at(at(link)->links[0])->links[0])) {
        link = rotate(link, 0);
        flip(link);
    }
    return link;
}

static uint64_t erase_first(uint64_t link)
{
    if (at(link)->links[0] == 0) {
        object_free(link);
        return 0;
    }
    if (!is_red(at(link)->links[0]) && !is_red(at(at(link)->links[0])->links[0]))
        link = red_to(link, 0);
    set_link(link, 0, erase_first(at(link)->links[0]));
    return balance(link);
}

static uint64_t erase_below(uint64_t link, uint64_t key)
{
    if (key < at(link)->key) {
        if (!is_red(at(link)->links[0]) && !is_red(at(at(link)->links[0])->links[0]))
            link = red_to(link, 0);
        set_link(link, 0, erase_below(at(link)->links[0], key));
        return balance(link);
    }
    if (is_red(at(link)->links[0]))
        link = rotate(link, 0);
    if (key == at(link)->key && at(link)->links[1] == 0) {
        object_free(link);
        return 0;
    }
    if (!is_red(at(link)->links[1]) && !is_red(at(at(link)->links[1])->links[0]))
        link = red_to(link, 1);
    if (key == at(link)->key) {
        const struct node *next = at(at(link)->links[1]);
        while (next->links[0] != 0)
            next = at(next->links[0]);
        struct node *node = changed(link);
        node->key = next->key;
        node->value = next->value;
        set_link(link, 1, erase_first(node->links[1]));
    } else {
        set_link(link, 1, erase_below(at(link)->links[1], key));
    }
    return balance(link);
}

static void set_root(uint64_t *words, uint64_t root)
{
    if (words[0] != root) {
        CHANGE(&words[0]);
        words[0] = root;
    }
    if (is_red(root))
        changed(root)->red = 0;
}

static void insert(uint64_t *words, uint64_t key, uint64_t value)
{
    set_root(words, insert_below(words[0], key, value));
}

static void erase(uint64_t *words, uint64_t key)
{
    if (!is_red(at(words[0])->links[0]) && !is_red(at(words[0])->links[1]))
        changed(words[0])->red = 1;
    set_root(words, erase_below(words[0], key));
}

static uint64_t get(const uint64_t *words, uint64_t key)
{
    uint64_t link = words[0];

    while (link != 0 && at(link)->key != key)
        link = at(link)->links[key > at(link)->key];
    return link ? at(link)->value : 0;
}

/* Keys below are at least `from` and less than `end`; `black` counts the black links to each end. */
static const char *walk_node(uint64_t link, uint64_t from, uint64_t end, int depth, int *black,
                             struct content *content, uint64_t *objects)
{
    const struct node *node = at(link);
    int blacks[2];

    *black = 0;
    if (link == 0)
        return NULL;
    if (!node || depth == MOST_DEPTH)
        return "a link leads to no node";
    ++*objects;
    if (node->key < from || node->key >= end)
        return "the keys are not in order";
    if (is_red(node->links[1]) || (node->red && is_red(node->links[0])))
        return "a link is red that must be black";
    const char *wrong = walk_node(node->links[0], from, node->key, depth + 1, &blacks[0], content, objects);
    if (!wrong)
        wrong = walk_node(node->links[1], node->key + 1, end, depth + 1, &blacks[1], content, objects);
    if (!wrong && blacks[0] != blacks[1])
        wrong = "ways down do not have as many black links";
    *black = blacks[0] + !node->red;
    return wrong ? wrong : content_add(content, node->key, node->value);
}

static const char *walk(const uint64_t *words, struct content *content, uint64_t *objects)
{
    int black;

    return walk_node(words[0], 0, UINT64_MAX, 0, &black, content, objects);
}

int main(int argc, char **argv)
{
    static const struct object_map map = {
        "pm_tx_rbtree", "A red-black tree of libpmemobj transactions.", NULL, insert, erase, get, walk,
    };
    return objects_main(argc, argv, &map);
}
