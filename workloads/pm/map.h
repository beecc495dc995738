/* A program around a persistent map: its run, and the check of what a run or a power cut left. */
#ifndef WORKLOADS_MAP_H
#define WORKLOADS_MAP_H

#include "command.h"
#include "updates.h"

struct map_program {
    const char *name, *summary;
    /* An update is counted in the section that makes it: what is there is what was counted, not up to one more. */
    int exact;
    /* An empty map in a new pool. */
    void *(*make)(const struct command *command, const struct map_shape *shape);
    /* The map of a pool that was left, recovered. Fills `shape`. What keeps it from being recovered goes to `wrong`. */
    void *(*left)(const struct command *command, struct map_shape *shape, const char **wrong);
    /* Makes the update, then or thereby counts it: `done` updates of the thread are persistent on return. */
    void (*update)(void *map, uint64_t thread, const struct update *update, uint64_t done);
    uint64_t (*get)(void *map, uint64_t key); /* its value, or 0 */
    uint64_t (*done)(void *map, uint64_t thread);
    /* Adds all keys to `content`. Answers what is wrong with the structure, or NULL. */
    const char *(*walk)(void *map, struct content *content);
};

/* The program's main. */
int map_main(int argc, char **argv, const struct map_program *program);

#endif
