/* Which places of an array in the pool are free. That is not persistent: recovery finds out by going through what is used. */
#ifndef WORKLOADS_SLOTS_H
#define WORKLOADS_SLOTS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct slots {
    char *array;
    size_t bytes; /* of a place */
    uint64_t count, used;
    unsigned char *taken;
    void **free;
    pthread_mutex_t lock;
};

/* All of an array is free, but not given out before slots_open. */
void slots_init(struct slots *slots, void *array, uint64_t count, size_t bytes);

/* Recovery found that the place is used. Answers 0 if it is none, or was found before. */
int slots_claim(struct slots *slots, const void *at);

/* Is it a place? */
int slots_has(const struct slots *slots, const void *at);

/* What was not claimed can be given out. */
void slots_open(struct slots *slots);

/* A free place; the program ends with a message if there is none. */
void *slots_take(struct slots *slots);

/* Nothing that is persistent leads to the place any more. */
void slots_give(struct slots *slots, void *at);

#endif
