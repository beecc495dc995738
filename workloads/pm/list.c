/* A persistent sorted list. A node is persistent before the one word that links it, so an update needs no log; which
 * nodes are free is found out again at recovery. */
#include "../modes/nodes.h"
#include "low.h"
#include "slots.h"

#define KIND UINT64_C(0x706d2d6c69737431)

struct list {
    struct low low;
    uint64_t *head;
    struct nodes nodes;
    struct slots slots;
    pthread_mutex_t lock;
};

static size_t bytes_of(uint64_t keys)
{
    return CACHE_LINE_SIZE + keys * sizeof(struct node);
}

static struct list list = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void attach(void)
{
    struct node *all = (struct node *)((char *)list.low.data + CACHE_LINE_SIZE);

    list.head = list.low.data;
    list.nodes = (struct nodes){ &list.low.pool, all, list.low.keys, NULL };
    slots_init(&list.slots, all, list.low.keys, sizeof *all);
}

static void *make(const struct command *command, const struct map_shape *shape)
{
    list.low = low_make(command, shape, bytes_of(shape->keys));
    attach();
    slots_open(&list.slots);
    low_publish(&list.low, KIND, shape);
    return &list;
}

static void *left(const struct command *command, struct map_shape *shape, const char **wrong)
{
    list.low = low_left(command, KIND, shape, bytes_of);
    attach();
    for (uint64_t at = *list.head; at != 0;) {
        const struct node *node = nodes_at(&list.nodes, at);
        if (!node || !slots_claim(&list.slots, node)) {
            *wrong = node ? "the list does not end" : "a link leads to no node";
            return NULL;
        }
        at = node->next;
    }
    slots_open(&list.slots);
    return &list;
}

/* The link before which all keys are smaller. */
static uint64_t *link_of(uint64_t key)
{
    uint64_t *link = list.head;

    while (*link != 0) {
        struct node *node = pool_at(&list.low.pool, *link);
        if (node->key >= key)
            break;
        link = &node->next;
    }
    return link;
}

static NOINLINE void insert(uint64_t *link, uint64_t key, uint64_t value)
{
    enum form form = list.low.pool.form;
    struct node *node = slots_take(&list.slots);

    put(form, &node->next, *link);
    put(form, &node->key, key);
    put(form, &node->value, value);
    if (!DEFECT)
        persist(form, node, sizeof *node);
    put(form, link, pool_offset(&list.low.pool, node));
    persist(form, link, sizeof *link);
}

static NOINLINE void erase(uint64_t *link, struct node *node)
{
    enum form form = list.low.pool.form;

    put(form, link, node->next);
    persist(form, link, sizeof *link);
    slots_give(&list.slots, node);
}

static void update(void *map, uint64_t thread, const struct update *update, uint64_t done)
{
    enum form form = list.low.pool.form;

    (void)map;
    pthread_mutex_lock(&list.lock);
    uint64_t *link = link_of(update->key);
    struct node *node = *link ? pool_at(&list.low.pool, *link) : NULL;
    int found = node && node->key == update->key;
    if (!found && update->value)
        insert(link, update->key, update->value);
    else if (found && !update->value)
        erase(link, node);
    else if (found) {
        put(form, &node->value, update->value);
        persist(form, &node->value, sizeof node->value);
    }
    pthread_mutex_unlock(&list.lock);
    counters_set(form, list.low.counters, thread, done);
}

static uint64_t get(void *map, uint64_t key)
{
    (void)map;
    pthread_mutex_lock(&list.lock);
    uint64_t at = *link_of(key);
    const struct node *node = pool_at(&list.low.pool, at);
    uint64_t value = at && node->key == key ? node->value : 0;
    pthread_mutex_unlock(&list.lock);
    return value;
}

static const char *walk(void *map, struct content *content)
{
    const char *wrong = NULL;
    const struct node *before = NULL;

    (void)map;
    for (uint64_t at = *list.head; at != 0 && !wrong;) {
        const struct node *node = pool_at(&list.low.pool, at);
        wrong = before && before->key >= node->key ? "the list is not sorted"
                                                   : content_add(content, node->key, node->value);
        before = node;
        at = node->next;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct map_program program = {
        "pm_list", "A persistent sorted list.", 0, make, left, update, get, low_done, walk,
    };
    return map_main(argc, argv, &program);
}
