/* A persistent chained hash table. An element is never changed: a new one is persistent before the one word that links it
 * in the place of the old. Elements are counted by lock; a mark says that a count is about to change, so that recovery
 * counts anew. */
#include "low.h"
#include "slots.h"

#define KIND UINT64_C(0x706d2d6861736831)
#define LOCKS 16
#define WORDS 6

/* A line. */
struct element {
    uint64_t next; /* offset, or 0 */
    uint64_t key;
    uint64_t words[WORDS]; /* the value, and what follows from it */
};

struct count {
    uint64_t elements, changing;
    uint64_t unused[6];
};

struct table {
    struct low low;
    struct count *counts; /* one a lock */
    uint64_t *buckets, mask;
    struct slots slots;
    pthread_mutex_t locks[LOCKS];
};

static struct table table;

static uint64_t buckets_for(uint64_t keys)
{
    uint64_t buckets = LOCKS;

    while (buckets < keys / 2)
        buckets *= 2;
    return buckets;
}

/* Replacing an element takes another while the old one is there. */
static uint64_t elements_for(uint64_t keys)
{
    return keys + MOST_THREADS;
}

static size_t bytes_of(uint64_t keys)
{
    return LOCKS * sizeof(struct count) + buckets_for(keys) * sizeof(uint64_t) +
           elements_for(keys) * sizeof(struct element);
}

static void attach(void)
{
    uint64_t keys = table.low.keys, buckets = buckets_for(keys);

    table.counts = table.low.data;
    table.buckets = (uint64_t *)(table.counts + LOCKS);
    table.mask = buckets - 1;
    slots_init(&table.slots, table.buckets + buckets, elements_for(keys), sizeof(struct element));
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&table.locks[i], NULL);
}

static struct element *at(uint64_t offset)
{
    return pool_at(&table.low.pool, offset);
}

static void *make(const struct command *command, const struct map_shape *shape)
{
    table.low = low_make(command, shape, bytes_of(shape->keys));
    attach();
    slots_open(&table.slots);
    low_publish(&table.low, KIND, shape);
    return &table;
}

/* Elements of a lock's buckets, all claimed. */
static const char *claim(uint64_t lock, uint64_t *elements)
{
    *elements = 0;
    for (uint64_t b = lock; b <= table.mask; b += LOCKS)
        for (uint64_t link = table.buckets[b]; link != 0; link = at(link)->next, ++*elements)
            if (!slots_claim(&table.slots, at(link)))
                return "a link leads to no element, or to one that is linked already";
    return NULL;
}

static void set(uint64_t *word, uint64_t value)
{
    put(table.low.pool.form, word, value);
    persist(table.low.pool.form, word, sizeof *word);
}

static void *left(const struct command *command, struct map_shape *shape, const char **wrong)
{
    table.low = low_left(command, KIND, shape, bytes_of);
    attach();
    for (uint64_t lock = 0; lock < LOCKS; lock++) {
        struct count *count = &table.counts[lock];
        uint64_t elements;
        *wrong = claim(lock, &elements);
        if (!*wrong && count->changing) {
            set(&count->elements, elements);
            set(&count->changing, 0);
        }
        if (!*wrong && count->elements != elements)
            *wrong = "there are not as many elements as were counted";
        if (*wrong)
            return NULL;
    }
    slots_open(&table.slots);
    return &table;
}

/* The link to the element, or the one that ends the chain. */
static uint64_t *link_of(uint64_t *bucket, uint64_t key)
{
    uint64_t *link = bucket;

    while (*link != 0 && at(*link)->key != key)
        link = &at(*link)->next;
    return link;
}

static NOINLINE uint64_t element_new(uint64_t next, const struct update *update)
{
    enum form form = table.low.pool.form;
    struct element *element = slots_take(&table.slots);

    put(form, &element->next, next);
    put(form, &element->key, update->key);
    for (int i = 0; i < WORDS; i++)
        put(form, &element->words[i], i == 0 ? update->value : prng_mix(update->value + (uint64_t)i));
    if (!DEFECT)
        persist(form, element, sizeof *element);
    return pool_offset(&table.low.pool, element);
}

/* A new element, no element, or one in the place of another. */
static NOINLINE void change(struct count *count, uint64_t *link, const struct update *update)
{
    struct element *old = *link ? at(*link) : NULL;
    uint64_t next = old ? old->next : 0, to = update->value ? element_new(next, update) : next;
    int counted = !old != !update->value;

    if (counted)
        set(&count->changing, 1);
    set(link, to);
    if (DEFECT && update->value)
        persist(table.low.pool.form, at(to), sizeof(struct element));
    if (counted) {
        set(&count->elements, count->elements + (old ? -UINT64_C(1) : 1));
        set(&count->changing, 0);
    }
    if (old)
        slots_give(&table.slots, old);
}

static void update(void *map, uint64_t thread, const struct update *update, uint64_t done)
{
    uint64_t bucket = prng_mix(update->key) & table.mask, lock = bucket % LOCKS;

    (void)map;
    pthread_mutex_lock(&table.locks[lock]);
    uint64_t *link = link_of(&table.buckets[bucket], update->key);
    if (*link || update->value)
        change(&table.counts[lock], link, update);
    pthread_mutex_unlock(&table.locks[lock]);
    counters_set(table.low.pool.form, table.low.counters, thread, done);
}

static uint64_t get(void *map, uint64_t key)
{
    uint64_t bucket = prng_mix(key) & table.mask;

    (void)map;
    pthread_mutex_lock(&table.locks[bucket % LOCKS]);
    uint64_t found = *link_of(&table.buckets[bucket], key), value = found ? at(found)->words[0] : 0;
    pthread_mutex_unlock(&table.locks[bucket % LOCKS]);
    return value;
}

static const char *walk(void *map, struct content *content)
{
    const char *wrong = NULL;

    (void)map;
    for (uint64_t b = 0; b <= table.mask && !wrong; b++)
        for (uint64_t link = table.buckets[b]; link != 0 && !wrong; link = at(link)->next) {
            const struct element *element = at(link);
            wrong = content_add(content, element->key, element->words[0]);
            for (uint64_t i = 1; i < WORDS; i++)
                if (element->words[i] != prng_mix(element->words[0] + i))
                    wrong = "a value is torn";
        }
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct map_program program = {
        "pm_hash", "A persistent chained hash table.", 0, make, left, update, get, low_done, walk,
    };
    return map_main(argc, argv, &program);
}
