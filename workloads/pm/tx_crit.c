/* A crit-bit tree of libpmemobj objects: an inner node is where its keys first differ. */
#include "objects.h"

/* A link to a leaf has this bit. */
#define LEAF 1

struct leaf {
    uint64_t key, value;
};

struct inner {
    uint64_t bit; /* the highest that differs below: 63 is that of the largest value */
    uint64_t links[2];
};

static struct leaf *leaf_at(uint64_t link)
{
    return object_at(link & ~(uint64_t)LEAF);
}

/* The link to the leaf that has the key, if any has; `above` is the inner node's that has it, or NULL. */
static uint64_t *descend(uint64_t *words, uint64_t key, uint64_t **above)
{
    uint64_t *link = &words[0];

    *above = NULL;
    while (*link && !(*link & LEAF)) {
        struct inner *inner = object_at(*link);
        *above = link;
        link = &inner->links[key >> inner->bit & 1];
    }
    return link;
}

static uint64_t leaf_new(uint64_t key, uint64_t value)
{
    uint64_t at = object_new(sizeof(struct leaf));

    *(struct leaf *)object_at(at) = (struct leaf){ key, value };
    return at | LEAF;
}

static void insert(uint64_t *words, uint64_t key, uint64_t value)
{
    uint64_t *above, *link = descend(words, key, &above);

    if (!*link) {
        CHANGE(link);
        *link = leaf_new(key, value);
        return;
    }
    struct leaf *near = leaf_at(*link);
    if (near->key == key) {
        CHANGE(&near->value);
        near->value = value;
        return;
    }
    uint64_t bit = 63 - (uint64_t)__builtin_clzll(near->key ^ key), at = object_new(sizeof(struct inner));
    struct inner *inner = object_at(at);
    link = &words[0];
    while (!(*link & LEAF) && ((struct inner *)object_at(*link))->bit > bit) {
        struct inner *passed = object_at(*link);
        link = &passed->links[key >> passed->bit & 1];
    }
    inner->bit = bit;
    inner->links[key >> bit & 1] = leaf_new(key, value);
    inner->links[!(key >> bit & 1)] = *link;
    if (!DEFECT)
        CHANGE(link);
    *link = at;
}

static void erase(uint64_t *words, uint64_t key)
{
    uint64_t *above, *link = descend(words, key, &above), leaf = *link;

    if (above) {
        /* The other link takes the inner node's place. */
        uint64_t at = *above;
        struct inner *inner = object_at(at);
        CHANGE(above);
        *above = inner->links[link == &inner->links[0]];
        object_free(at);
    } else {
        CHANGE(link);
        *link = 0;
    }
    object_free(leaf & ~(uint64_t)LEAF);
}

static uint64_t get(const uint64_t *words, uint64_t key)
{
    uint64_t *above, link = *descend((uint64_t *)words, key, &above);

    return link && leaf_at(link)->key == key ? leaf_at(link)->value : 0;
}

/* The keys below have these `bits` where `looked_at` says so, down to `lowest`. */
static const char *walk_link(uint64_t link, uint64_t looked_at, uint64_t bits, uint64_t lowest, struct content *content,
                             uint64_t *objects)
{
    const struct inner *inner = object_at(link & ~(uint64_t)LEAF);

    if (!inner)
        return "a link leads out of the pool";
    ++*objects;
    if (link & LEAF) {
        const struct leaf *leaf = leaf_at(link);
        return (leaf->key & looked_at) != bits ? "a leaf is where its key does not lead"
                                               : content_add(content, leaf->key, leaf->value);
    }
    if (inner->bit >= lowest)
        return "an inner node looks at a bit that was passed";
    for (uint64_t side = 0; side < 2; side++) {
        const char *wrong = walk_link(inner->links[side], looked_at | UINT64_C(1) << inner->bit,
                                      bits | side << inner->bit, inner->bit, content, objects);
        if (wrong)
            return wrong;
    }
    return NULL;
}

static const char *walk(const uint64_t *words, struct content *content, uint64_t *objects)
{
    return words[0] ? walk_link(words[0], 0, 0, 64, content, objects) : NULL;
}

int main(int argc, char **argv)
{
    static const struct object_map map = {
        "pm_tx_crit", "A crit-bit tree of libpmemobj transactions.", NULL, insert, erase, get, walk,
    };
    return objects_main(argc, argv, &map);
}
