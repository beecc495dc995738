/* A program around tables that sections change: its run, and the check of what a run or a power cut left. */
#ifndef WORKLOADS_TABLES_H
#define WORKLOADS_TABLES_H

#include "../common/prng.h"
#include "sections.h"

struct tables {
    struct pool pool;
    struct sections *sections;
    char *data; /* the program's, behind the sections; on a line, zeros in a new pool */
    uint64_t seed, threads, size;
    uint64_t room; /* updates that each thread may make */
};

struct tables_program {
    const char *name, *summary;
    uint64_t kind;
    /* What `size` is: the argument's name, what it says, default and least. */
    const char *size, *says;
    uint64_t usual, least;
    size_t (*bytes_of)(uint64_t size, uint64_t threads, uint64_t room);
    /* Fills new tables, and makes that persistent. */
    void (*fill)(struct tables *tables);
    /* A thread's next update, number `done`, counted in a section or behind it. Draws from `prng` the same whatever the
     * tables hold; with `log` NULL does only that, for an update that is done already. */
    void (*update)(struct tables *tables, uint64_t thread, struct prng *prng, struct log *log, uint64_t done);
    /* Is everything as the updates that were counted leave it, or, where they are counted behind the section, those and
     * one more? Answers what is not. */
    const char *(*compare)(const struct tables *tables);
};

static inline uint64_t tables_done(const struct tables *tables, uint64_t thread)
{
    return tables->sections->counters.of[thread].done;
}

/* The program's main. */
int tables_main(int argc, char **argv, const struct tables_program *program);

#endif
