/* Persistent memory: a file that is mapped shared. */
#ifndef WORKLOADS_POOL_H
#define WORKLOADS_POOL_H

#include "form.h"

struct arg;

/* What stands at the beginning. Until `kind` is there, nothing else is. */
struct pool_root {
    uint64_t kind;   /* which program, and version of its layout */
    uint64_t shape[7]; /* the program's: sizes that a check needs */
};

/* What every program of this folder is told. */
struct pool_options {
    const char *file; /* "": memory without a file */
    int form;         /* an enum form */
    int check;
    int type;         /* 0: memory of the file; else 1 more than a prestore_type */
};

/* Words for --type. */
extern const char *const POOL_TYPE_WORDS[];

struct pool {
    struct pool_root *root;
    char *data; /* behind the root, on a line */
    size_t bytes;
    enum form form;
};

/* Number and text of the arguments that pool_options are. */
#define POOL_ARGS(options)                                                                              \
    ARG_TEXT_OF("file", &(options)->file, "the persistent memory: a file to be made or, with check, read"), \
    ARG_CHOICE_OF("form", &(options)->form, FORM_WORDS, "how stores become persistent"),                    \
    ARG_CHOICE_OF("check", &(options)->check, ARG_NO_YES, "recover what is in the file and check it, instead of running"), \
    ARG_CHOICE_OF("type", &(options)->type, POOL_TYPE_WORDS,                                                \
                  "without a file: the caching mode of the memory, of the kernel module (docs/memory-types.md)")

/* Maps fresh persistent memory of `bytes` bytes besides the root. Ends the program with a message if it cannot. */
struct pool pool_make(const struct pool_options *options, size_t bytes);

/* All in it is in its place: from now on it is of this kind. */
void pool_publish(struct pool *pool, uint64_t kind, const uint64_t *shape, size_t shapes);

/* Maps what a run left. Of a run that had not published yet there is nothing to check: says so and ends the program
 * with 0. Ends it with 1 and a message if the file is of another kind or shorter than `bytes_of` says of its shape. */
struct pool pool_left(const struct pool_options *options, uint64_t kind, size_t (*bytes_of)(const uint64_t *shape));

/* An offset that a pointer into the pool is stored as; 0 is none. */
static inline uint64_t pool_offset(const struct pool *pool, const void *at)
{
    return (uint64_t)((const char *)at - (const char *)pool->root);
}

static inline void *pool_at(const struct pool *pool, uint64_t offset)
{
    return (char *)pool->root + offset;
}

/* A run was cut off before there was anything to check: says so and ends the program with 0. */
void pool_nothing(const char *file) __attribute__((noreturn));

/* The check's verdict: prints it and ends the program, with 1 if `wrong` says something. */
void pool_verdict(const char *name, const char *wrong) __attribute__((noreturn));

#endif
