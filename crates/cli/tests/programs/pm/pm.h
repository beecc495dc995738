/* Small persistent programs, each with a planted defect and without it, and what recovery makes of an
 * image of each. `pm NAME good|bad POOL` runs one, `pm NAME check IMAGE` recovers. */
#ifndef PM_H
#define PM_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A pool is 64 lines of zeros at first. */
typedef struct {
    volatile uint64_t at[8];
} line_t;

typedef struct {
    line_t lines[64];
} pool_t;

typedef struct {
    const char *name;
    void (*run)(pool_t *pool, bool bad);
    /* Recovers, and says whether what there is is right. */
    bool (*check)(pool_t *pool);
} program_t;

#define PROGRAM(name) { #name, name##_run, name##_check }
#define RUN(name) __attribute__((noipa)) static void name##_run(pool_t *pool, bool bad)
#define CHECK(name) static bool name##_check(pool_t *pool)

/* The first word of a line. */
#define WORD(n) (pool->lines[n].at[0])

/* Macros, so that each has the line where it is needed. */
#define flush(at) _mm_clwb((void *)(at))
#define fence() _mm_sfence()
#define persist(at) (flush(at), fence())

extern const program_t flag_programs[], log_programs[], link_programs[], torn_programs[],
    other_programs[];

#endif
