/* A skip list of libpmemobj objects. How high a node is follows from its key, so that runs are alike. */
#include "../common/prng.h"
#include "objects.h"

#define LEVELS 8

_Static_assert(LEVELS <= OBJECT_WORDS, "the first links are the structure's words");

struct node {
    uint64_t key, value;
    uint64_t next[LEVELS];
};

/* A quarter of those of a level is in the next. */
static unsigned height(uint64_t key)
{
    unsigned levels = 1 + (unsigned)__builtin_ctzll(prng_mix(key + 1) | UINT64_C(1) << 62) / 2;

    return levels < LEVELS ? levels : LEVELS;
}

/* The links of each level before which all keys are smaller. */
static void links_of(const uint64_t *words, uint64_t key, uint64_t *links[LEVELS])
{
    uint64_t *row = (uint64_t *)words;

    for (unsigned level = LEVELS; level-- > 0;) {
        struct node *node;
        while ((node = object_at(row[level])) && row[level] && node->key < key)
            row = node->next;
        links[level] = &row[level];
    }
}

static struct node *found(uint64_t *const links[LEVELS], uint64_t key)
{
    struct node *node = *links[0] ? object_at(*links[0]) : NULL;

    return node && node->key == key ? node : NULL;
}

static void insert(uint64_t *words, uint64_t key, uint64_t value)
{
    uint64_t *links[LEVELS];

    links_of(words, key, links);
    struct node *node = found(links, key);
    if (node) {
        CHANGE(&node->value);
        node->value = value;
        return;
    }
    uint64_t at = object_new(sizeof *node);
    node = object_at(at);
    node->key = key;
    node->value = value;
    for (unsigned level = 0; level < height(key); level++) {
        node->next[level] = *links[level];
        if (!DEFECT || level > 0)
            CHANGE(links[level]);
        *links[level] = at;
    }
}

static void erase(uint64_t *words, uint64_t key)
{
    uint64_t *links[LEVELS];

    links_of(words, key, links);
    struct node *node = found(links, key);
    uint64_t at = *links[0];
    for (unsigned level = 0; level < height(key); level++) {
        CHANGE(links[level]);
        *links[level] = node->next[level];
    }
    object_free(at);
}

static uint64_t get(const uint64_t *words, uint64_t key)
{
    uint64_t *links[LEVELS];

    links_of(words, key, links);
    const struct node *node = found(links, key);
    return node ? node->value : 0;
}

static const char *walk(const uint64_t *words, struct content *content, uint64_t *objects)
{
    const char *wrong = NULL;

    for (unsigned level = 0; level < LEVELS && !wrong; level++) {
        const struct node *before = NULL;
        uint64_t here = 0, high = 0;
        for (uint64_t at = words[level]; at && !wrong; here++) {
            const struct node *node = object_at(at);
            if (!node || (before && before->key >= node->key))
                return "a level is not sorted";
            if (level == 0)
                wrong = content_add(content, node->key, node->value);
            before = node;
            at = node->next[level];
        }
        *objects += level == 0 ? here : 0;
        for (uint64_t key = 0; key < content->keys; key++)
            high += content->values[key] && height(key) > level;
        if (!wrong && high != here)
            wrong = "a level does not have the nodes that are as high";
    }
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct object_map map = {
        "pm_tx_skip", "A skip list of libpmemobj transactions.", NULL, insert, erase, get, walk,
    };
    return objects_main(argc, argv, &map);
}
