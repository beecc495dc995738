#include "objects.h"

#include <errno.h>
#include <libpmemobj.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIND UINT64_C(0x706d2d6f626a6d31)
#define OBJECT_TYPE 1
/* What a key takes of the pool, at most, with the allocator's share. */
#define BYTES_A_KEY 512

struct root {
    uint64_t kind; /* 0 until all else is there */
    struct map_shape shape;
    uint64_t done[MOST_THREADS];
    uint64_t words[OBJECT_WORDS];
};

static struct {
    const struct object_map *structure;
    PMEMobjpool *pool;
    PMEMoid oid; /* the root's */
    struct root *root;
    size_t bytes;
    /* Transactions of several threads must not touch the same. */
    pthread_mutex_t lock;
} objects = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, pmemobj_errormsg());
    exit(1);
}

void *object_at(uint64_t offset)
{
    if (offset % sizeof(uint64_t) || offset > objects.bytes - sizeof(uint64_t))
        return NULL;
    return (char *)objects.pool + offset;
}

uint64_t object_new(size_t bytes)
{
    return pmemobj_tx_zalloc(bytes, OBJECT_TYPE).off;
}

void object_free(uint64_t offset)
{
    pmemobj_tx_free((PMEMoid){ objects.oid.pool_uuid_lo, offset });
}

void object_change(void *at, size_t bytes)
{
    pmemobj_tx_add_range_direct(at, bytes);
}

static void open_root(void)
{
    objects.oid = pmemobj_root(objects.pool, sizeof(struct root));
    objects.root = pmemobj_direct(objects.oid);
    if (!objects.root)
        fail("no root in the pool");
}

/* From here on recovery has something to recover. */
static NOINLINE void publish(const struct map_shape *shape)
{
    struct root *root = objects.root;

    root->shape = *shape;
    pmemobj_persist(objects.pool, &root->shape, sizeof root->shape);
    root->kind = KIND;
    pmemobj_persist(objects.pool, &root->kind, sizeof root->kind);
}

static void *make(const struct command *command, const struct map_shape *shape)
{
    const char *file = command->pool.file;

    if (unlink(file) != 0 && errno != ENOENT) {
        fprintf(stderr, "%s: %s\n", file, strerror(errno));
        exit(1);
    }
    objects.bytes = PMEMOBJ_MIN_POOL + shape->keys * BYTES_A_KEY;
    objects.pool = pmemobj_create(file, objects.structure->name, objects.bytes, 0666);
    if (!objects.pool)
        fail(file);
    open_root();
    TX_BEGIN(objects.pool)
    {
        CHANGE(&objects.root->words);
        if (objects.structure->make)
            objects.structure->make(objects.root->words);
    }
    TX_ONABORT
    {
        fail("the structure cannot be made");
    }
    TX_END
    publish(shape);
    return &objects;
}

static void *left(const struct command *command, struct map_shape *shape, const char **wrong)
{
    const char *file = command->pool.file;
    struct stat found;

    if (stat(file, &found) != 0) {
        fprintf(stderr, "%s: %s\n", file, strerror(errno));
        exit(1);
    }
    objects.bytes = (size_t)found.st_size;
    objects.pool = pmemobj_open(file, objects.structure->name);
    if (!objects.pool)
        fail(file);
    open_root();
    if (objects.root->kind == 0)
        pool_nothing(file);
    *shape = objects.root->shape;
    if (objects.root->kind != KIND || shape->threads < 1 || shape->threads > MOST_THREADS ||
        shape->keys < MOST_THREADS || shape->keys > objects.bytes)
        *wrong = "the root is not one of this program";
    return &objects;
}

static void update_in_transaction(struct root *root, uint64_t thread, const struct update *update, uint64_t done)
{
    const struct object_map *structure = objects.structure;

    CHANGE(&root->done[thread]);
    root->done[thread] = done;
    if (update->value)
        structure->insert(root->words, update->key, update->value);
    else if (structure->get(root->words, update->key))
        structure->erase(root->words, update->key);
}

static void update(void *map, uint64_t thread, const struct update *update, uint64_t done)
{
    (void)map;
    pthread_mutex_lock(&objects.lock);
    TX_BEGIN(objects.pool)
    {
        update_in_transaction(objects.root, thread, update, done);
    }
    TX_ONABORT
    {
        fail("a transaction was aborted");
    }
    TX_END
    pthread_mutex_unlock(&objects.lock);
}

static uint64_t get(void *map, uint64_t key)
{
    (void)map;
    pthread_mutex_lock(&objects.lock);
    uint64_t value = objects.structure->get(objects.root->words, key);
    pthread_mutex_unlock(&objects.lock);
    return value;
}

static uint64_t done(void *map, uint64_t thread)
{
    (void)map;
    return objects.root->done[thread];
}

/* What is allocated and what the structure leads to are the same. */
static const char *walk(void *map, struct content *content)
{
    uint64_t led_to = 0, allocated = 0;
    const char *wrong = objects.structure->walk(objects.root->words, content, &led_to);

    (void)map;
    for (PMEMoid at = pmemobj_first(objects.pool); !OID_IS_NULL(at); at = pmemobj_next(at))
        allocated += pmemobj_type_num(at) == OBJECT_TYPE;
    return wrong || led_to == allocated ? wrong : "objects are allocated that nothing leads to";
}

int objects_main(int argc, char **argv, const struct object_map *structure)
{
    const struct map_program program = { structure->name, structure->summary, 1, make, left, update, get, done, walk };

    objects.structure = structure;
    return map_main(argc, argv, &program);
}
