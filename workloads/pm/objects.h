/* A map in a pool of libpmemobj: each update, with its count, is a transaction. */
#ifndef WORKLOADS_OBJECTS_H
#define WORKLOADS_OBJECTS_H

#include "../common/attributes.h"
#include "map.h"

/* Objects are led to by their offsets in the pool; 0 is none. */
struct object_map {
    const char *name, *summary;
    /* Where its words are zeros, what an empty map needs; NULL: nothing. As all but `get` and `walk` in a transaction. */
    void (*make)(uint64_t *words);
    /* Inserts the key, or replaces its value. */
    void (*insert)(uint64_t *words, uint64_t key, uint64_t value);
    void (*erase)(uint64_t *words, uint64_t key); /* which is there */
    uint64_t (*get)(const uint64_t *words, uint64_t key); /* its value, or 0 */
    /* Adds all keys to `content`, and to `objects` how many objects are led to. Answers what is wrong, or NULL. */
    const char *(*walk)(const uint64_t *words, struct content *content, uint64_t *objects);
};

/* Words of its own that a structure has in the pool. */
#define OBJECT_WORDS 16

/* What stands at an offset; 0 where there is no such place in the pool. */
void *object_at(uint64_t offset);

/* A new object of zeros. */
uint64_t object_new(size_t bytes);
void object_free(uint64_t offset);

/* What stands there is about to be changed: the transaction remembers what it was, and makes persistent what it will be. */
void object_change(void *at, size_t bytes);

#define CHANGE(at) object_change((at), sizeof *(at))

/* The program's main. */
int objects_main(int argc, char **argv, const struct object_map *structure);

#endif
