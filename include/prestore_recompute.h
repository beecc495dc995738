/*
 * Failure-safe loops: a long loop over arrays in persistent memory that goes on where a crash has cut it. C99 or C++11.
 *
 * Describe the loop (prestore_loop_nest), open it on a file, run it. If the program is killed or the power fails, start
 * it again: prestore_loop_run brings back what was torn and goes on. docs/recompute.md shows a whole program.
 *
 * Link with -lprestore_recompute.
 */
#ifndef PRESTORE_RECOMPUTE_H
#define PRESTORE_RECOMPUTE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A persistent array: rows of bytes, cut into tiles, which have the same number in all arrays that are written. */
typedef struct prestore_loop_array {
    size_t rows;
    size_t row_bytes;
    size_t tile_rows;  /* 0 and 0: the array is only read */
    size_t tile_bytes; /* row_bytes for panels of whole rows */
    size_t every;      /* written in the iterations that are `phase` modulo `every`; 0 and 0 for all */
    size_t phase;
    int by_columns; /* tiles are numbered column by column instead of row by row */
} prestore_loop_array;

enum {
    /* A step reads its own tile as earlier iterations left it, and data that nobody writes in this iteration or later
       and that is not in the tiles of later regions. */
    PRESTORE_LOOP_CARRIED = 0,
    /* A step reads nothing that is written in its iteration, and writes its whole tile. */
    PRESTORE_LOOP_FRESH = 1
};

enum {
    PRESTORE_LOOP_TOGETHER = 0, /* an iteration begins when all of the one before is done */
    PRESTORE_LOOP_APART = 1     /* regions do not depend on each other: workers never wait */
};

/*
 * A loop: `outer` iterations, each a step for every region (tile number) in ascending order.
 *
 * A step writes its region's tiles of the arrays that the iteration writes, and nothing else that is persistent. Several
 * workers call it at the same time, for different regions. The functions are given `context` and the arrays' addresses.
 */
typedef struct prestore_loop_nest {
    const char *name; /* up to 40 bytes; a file remembers whose it is */
    size_t outer;
    const prestore_loop_array *arrays;
    size_t array_count;
    int dependence; /* PRESTORE_LOOP_CARRIED or _FRESH */
    int order;      /* PRESTORE_LOOP_TOGETHER or _APART */
    void *context;
    /* Fills in what is there before the loop, into zeros: once, and without `reset` whenever the loop begins again, then
       with the same result. NULL: nothing. What a program stores in the arrays elsewhere does not belong to the loop. */
    void (*init)(void *context, void *const *arrays);
    /* Gives a region's tiles the value that they have before the first iteration, also where they have been
       overwritten; an empty function if the first iteration does not read them. NULL: where the loop begins again, all
       arrays are zeroed and `init` is called; without `init`, what is written is zeroed. A CARRIED loop that has `init`
       cannot be opened under R and HR without `reset`: they give single tiles their first value. */
    void (*reset)(void *context, void *const *arrays, size_t region);
    void (*step)(void *context, void *const *arrays, size_t outer, size_t region);
    /* Whether an iteration writes a region; always answers the same. NULL: it does. */
    int (*writes)(void *context, size_t outer, size_t region);
} prestore_loop_nest;

typedef struct prestore_loop prestore_loop;

enum {
    PRESTORE_LOOP_AUTO = 0,  /* flush instructions on persistent memory and tmpfs, msync elsewhere */
    PRESTORE_LOOP_FLUSH = 1, /* flush instructions; on a disk, data then survives the program only */
    PRESTORE_LOOP_MSYNC = 2
};

/*
 * Finds the loop in the file, or begins it in a new one; path NULL: in ordinary memory, to measure. `scheme` is
 *
 *   "R"       Recompute: each step's result is flushed, what a crash tore is computed anew from the beginning
 *   "HRx64"   as R, and everything is copied aside once in 64 iterations: no more than these are computed anew
 *   "L"       each step's old values are logged before
 *   "CP8"     everything is copied aside every 8 iterations ("CPall8": what is only read, too); after a crash before the
 *             first copy the loop begins again
 *   "none"    nothing; each run begins the loop again, also where it was finished before
 *
 * NULL if the scheme cannot bring this loop back, if the file is not this loop's (it is left alone), is in use, or there is no room: see prestore_loop_error.
 */
prestore_loop *prestore_loop_open(const prestore_loop_nest *nest, const char *path, const char *scheme,
                                  unsigned workers, int durability);

/* What went wrong last in this thread. Valid until the next call of this thread fails. */
const char *prestore_loop_error(void);

/* 0: the loop has been begun, 1: it was found or run, and goes on or, with "none", begins again, 2: it is finished. */
int prestore_loop_state(const prestore_loop *loop);

typedef struct prestore_loop_report {
    int was_finished;    /* nothing was done */
    size_t resumed_at;   /* outermost iterations that were complete */
    uint64_t recomputed; /* steps to bring back what was torn */
    uint64_t steps;      /* steps that were done */
} prestore_loop_report;

/* Goes on to the end. 0, or -1: see prestore_loop_error. `report` may be NULL. */
int prestore_loop_run(prestore_loop *loop, prestore_loop_report *report);

/* An array's address, until the loop is closed; NULL if there is no such array. */
void *prestore_loop_array_at(const prestore_loop *loop, size_t array);

/* How data becomes durable and what it survives, in words. Lives as long as the loop. */
const char *prestore_loop_durability(const prestore_loop *loop);

/* NULL is allowed. */
void prestore_loop_close(prestore_loop *loop);

/* A loop at whose end results could be made durable: seconds of one iteration (one worker's computing of one region,
   once), and to make durable what it wrote. */
typedef struct prestore_loop_level {
    const char *name;
    double seconds;
    double persist_seconds;
} prestore_loop_level;

typedef struct prestore_loop_measured {
    uint64_t outer;       /* iterations of the outermost loop */
    double outer_seconds; /* of one of them, without any scheme */
    double copy_seconds;  /* to copy aside all that is written, durably */
    uint64_t workers;
    int fresh;           /* PRESTORE_LOOP_FRESH */
    double mttf_seconds; /* mean time to failure */
    const prestore_loop_level *levels;
    size_t level_count;
} prestore_loop_measured;

typedef struct prestore_loop_advice {
    char scheme[32];         /* for prestore_loop_open */
    ptrdiff_t level;         /* which of the loops; -1 for checkpoints */
    double overhead;         /* part of the run while nothing fails */
    double recovery_seconds; /* the longest recovery */
    double expected;         /* part of the run with failures */
    double crossing;         /* iterations between checkpoints at which they cost no more while nothing fails; 0: none */
} prestore_loop_advice;

/* 0, or -1 if no scheme gets ahead of the failures. */
int prestore_loop_advise(const prestore_loop_measured *measured, prestore_loop_advice *advice);

/* Iterations between two checkpoints at which these cost no more than a scheme that takes the part `overhead` of each
   iteration; for time or for writes, in any unit. */
double prestore_loop_crossing(double checkpoint, double iteration, double overhead);

#ifdef __cplusplus
}
#endif

#endif
