/* Failure-atomic sections: an undo log for each thread. */
#ifndef WORKLOADS_LOG_H
#define WORKLOADS_LOG_H

#include "pool.h"

/* Words that one section may store. */
#define LOG_ENTRIES 62

/* What a word was. Two lie in a line. */
struct log_entry {
    uint64_t offset, before;
    uint64_t check; /* of both, of the number of the section that stored the word, and of the entry's place */
    uint64_t unused;
};

/* The persistent part. */
struct log_space {
    uint64_t done; /* number of the last section that was completed or undone */
    uint64_t unused[7];
    struct log_entry entries[LOG_ENTRIES];
};

/* A thread's. */
struct log {
    struct pool *pool;
    struct log_space *space;
    uint64_t section;
    uint32_t used;
    uint64_t *stored[LOG_ENTRIES];
};

struct log log_open(struct pool *pool, struct log_space *space);

/* A section begins; others must be kept away from what it stores until it is committed. */
void log_begin(struct log *log);

/* Stores a word: what it was is persistent before. */
void log_store(struct log *log, uint64_t *at, uint64_t value);

/* All that was stored since the begin is persistent, and nothing of it is undone any more. */
void log_commit(struct log *log);

/* Undoes what was stored since the begin. */
void log_roll_back(struct log *log);

/* Undoes a section that was not committed. Interrupted, it can be done again. Answers 0 if an entry names what is not
 * in the pool. */
int log_recover(struct pool *pool, struct log_space *space);

#endif
