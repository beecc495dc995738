/* A chained hash table of libpmemobj objects, which grows within one transaction. */
#include "../common/prng.h"
#include "objects.h"

#define FIRST_BUCKETS 8

enum words { ELEMENTS, BUCKETS, TABLE };

struct element {
    uint64_t next, key, value;
};

static void make(uint64_t *words)
{
    words[BUCKETS] = FIRST_BUCKETS;
    words[TABLE] = object_new(FIRST_BUCKETS * sizeof(uint64_t));
}

static uint64_t *bucket_of(const uint64_t *words, uint64_t key)
{
    return (uint64_t *)object_at(words[TABLE]) + (prng_mix(key) & (words[BUCKETS] - 1));
}

/* The link to the element, or the one that ends the chain. */
static uint64_t *link_of(const uint64_t *words, uint64_t key)
{
    uint64_t *link = bucket_of(words, key);

    while (*link && ((struct element *)object_at(*link))->key != key)
        link = &((struct element *)object_at(*link))->next;
    return link;
}

static NOINLINE void grow(uint64_t *words)
{
    uint64_t before = words[BUCKETS], old = words[TABLE];

    object_change(words, 3 * sizeof *words);
    words[BUCKETS] = 2 * before;
    words[TABLE] = object_new(2 * before * sizeof *words);
    for (uint64_t b = 0; b < before; b++)
        for (uint64_t at = ((uint64_t *)object_at(old))[b], next; at; at = next) {
            struct element *element = object_at(at);
            uint64_t *bucket = bucket_of(words, element->key);
            next = element->next;
            CHANGE(&element->next);
            element->next = *bucket;
            *bucket = at;
        }
    object_free(old);
}

static void insert(uint64_t *words, uint64_t key, uint64_t value)
{
    uint64_t *link = link_of(words, key);

    if (*link) {
        struct element *element = object_at(*link);
        CHANGE(&element->value);
        element->value = value;
        return;
    }
    CHANGE(link);
    *link = object_new(sizeof(struct element));
    *(struct element *)object_at(*link) = (struct element){ 0, key, value };
    if (!DEFECT)
        CHANGE(&words[ELEMENTS]);
    if (++words[ELEMENTS] > words[BUCKETS])
        grow(words);
}

static void erase(uint64_t *words, uint64_t key)
{
    uint64_t *link = link_of(words, key), old = *link;

    CHANGE(link);
    *link = ((struct element *)object_at(old))->next;
    CHANGE(&words[ELEMENTS]);
    words[ELEMENTS]--;
    object_free(old);
}

static uint64_t get(const uint64_t *words, uint64_t key)
{
    uint64_t at = *link_of(words, key);

    return at ? ((struct element *)object_at(at))->value : 0;
}

static const char *walk(const uint64_t *words, struct content *content, uint64_t *objects)
{
    const char *wrong = NULL;
    uint64_t elements = 0;
    const uint64_t *table = object_at(words[TABLE]);

    if (!table || words[BUCKETS] < FIRST_BUCKETS || words[BUCKETS] > 4 * content->keys + FIRST_BUCKETS)
        return "the table is none";
    for (uint64_t b = 0; b < words[BUCKETS] && !wrong; b++)
        for (uint64_t at = table[b]; at && !wrong; elements++) {
            const struct element *element = object_at(at);
            if (!element || bucket_of(words, element->key) != &table[b])
                return "an element is in a bucket that is not its own";
            wrong = content_add(content, element->key, element->value);
            at = element->next;
        }
    *objects = elements + 1;
    return wrong || elements == words[ELEMENTS] ? wrong : "there are not as many elements as were counted";
}

int main(int argc, char **argv)
{
    static const struct object_map map = {
        "pm_tx_hash", "A hash table of libpmemobj transactions.", make, insert, erase, get, walk,
    };
    return objects_main(argc, argv, &map);
}
