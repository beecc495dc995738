#define _GNU_SOURCE
#include "pool.h"

#include "../../include/prestore_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Older headers lack it. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

const char *const POOL_TYPE_WORDS[] = { "none", "wb", "wt", "wc", "uc", NULL };

static void fail(const char *file, const char *what, int code)
{
    fprintf(stderr, "%s: %s\n", *file ? file : "memory without a file", what);
    exit(code);
}

static struct pool at(void *memory, size_t bytes, int form)
{
    struct pool pool = { .root = memory, .bytes = bytes, .form = (enum form)form };

    pool.data = (char *)memory + sizeof *pool.root;
    return pool;
}

static struct pool map(int fd, const char *file, size_t bytes, int form)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (memory == MAP_FAILED)
        fail(file, strerror(errno), 1);
    close(fd);
    return at(memory, bytes, form);
}

static void refuse_file_of_a_type(const struct pool_options *options)
{
    if (*options->file && options->type)
        fail(options->file, "files are mapped write-back: give --file or --type, not both", 2);
}

/* Memory that the kernel gives with this type; the pages are there when it is mapped. */
static struct pool map_typed(const struct pool_options *options, size_t bytes)
{
    void *memory = prestore_map(bytes, (prestore_type)(options->type - 1));
    if (memory == NULL) {
        fprintf(stderr, "no memory for --type=%s: %s\n", POOL_TYPE_WORDS[options->type], prestore_map_why(errno));
        exit(1);
    }
    return at(memory, bytes, options->form);
}

struct pool pool_make(const struct pool_options *options, size_t bytes)
{
    form_require((enum form)options->form);
    refuse_file_of_a_type(options);
    if (options->type)
        return map_typed(options, bytes + sizeof(struct pool_root));
    int fd = *options->file ? open(options->file, O_RDWR | O_CREAT | O_TRUNC, 0666) : memfd_create("modes", 0);
    if (fd < 0)
        fail(options->file, strerror(errno), 1);
    bytes += sizeof(struct pool_root);
    if (ftruncate(fd, (off_t)bytes) != 0)
        fail(options->file, strerror(errno), 1);
    struct pool pool = map(fd, options->file, bytes, options->form);
    /* So that no page's first touch is in what is timed, and nothing is stored that is not flushed. Before Linux 5.14 it
     * is timed. */
    madvise(pool.root, bytes, MADV_POPULATE_WRITE);
    return pool;
}

void pool_publish(struct pool *pool, uint64_t kind, const uint64_t *shape, size_t shapes)
{
    for (size_t i = 0; i < shapes; i++)
        put(pool->form, &pool->root->shape[i], shape[i]);
    persist(pool->form, pool->root, sizeof *pool->root);
    put(pool->form, &pool->root->kind, kind);
    persist(pool->form, pool->root, sizeof *pool->root);
}

void pool_nothing(const char *file)
{
    printf("%s: nothing was published\n", file);
    exit(0);
}

struct pool pool_left(const struct pool_options *options, uint64_t kind, size_t (*bytes_of)(const uint64_t *shape))
{
    struct stat found;

    if (!*options->file)
        fail(options->file, "--check=yes needs --file=FILE: what a run left", 2);
    refuse_file_of_a_type(options);
    int fd = open(options->file, O_RDWR);
    if (fd < 0 || fstat(fd, &found) != 0)
        fail(options->file, strerror(errno), 1);
    if (found.st_size == 0)
        pool_nothing(options->file);
    if ((size_t)found.st_size < sizeof(struct pool_root))
        fail(options->file, "too short to be of this program", 1);
    /* What recovery repairs is persistent before it goes on, whatever the run's form was. */
    struct pool pool = map(fd, options->file, (size_t)found.st_size, FORM_CLFLUSH);
    if (pool.root->kind == 0)
        pool_nothing(options->file);
    if (pool.root->kind != kind)
        fail(options->file, "of another program", 1);
    if (pool.bytes < sizeof *pool.root + bytes_of(pool.root->shape))
        fail(options->file, "shorter than it says it is", 1);
    return pool;
}

void pool_verdict(const char *name, const char *wrong)
{
    if (wrong) {
        printf("%s: broken: %s\n", name, wrong);
        exit(1);
    }
    printf("%s: consistent\n", name);
    exit(0);
}
