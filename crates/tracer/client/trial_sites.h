/* The stores to change, as the host lists them, and what became of each. */
#ifndef PRESTORE_TRIAL_SITES_H
#define PRESTORE_TRIAL_SITES_H

#include "dr_api.h"

typedef enum { TRIAL_NOTHING, TRIAL_SKIP, TRIAL_CLEAN, TRIAL_DEMOTE } trial_op_t;

typedef struct {
    uint number; /* place in the list */
    trial_op_t op;
    uint first; /* number of the first site of its group */
    uint group; /* from 1: stores that may become visible in any order among themselves */
    uint64 offset;
    const char *path;
} trial_site_t;

/* What became of a site (the host's crates/tracer/src/trial/found.rs reads it). */
typedef enum {
    SITE_NOT_MET = 0,
    SITE_CHANGED = 1,
    SITE_NO_STORE = 2,
    SITE_SMALL = 3,
    SITE_MASKED = 4,
    SITE_ATOMIC = 5,
    SITE_STRING = 6,
    SITE_STACK = 7,
    SITE_READS = 8,
    SITE_THREAD_LOCAL = 9,
    SITE_NO_FORM = 10,
    SITE_NON_TEMPORAL = 11,
    SITE_NO_INSTRUCTION = 12,
} site_fate_t;

/* The file `trial-results` of the session begins so, shared by the program's processes. */
typedef struct {
    uint64 begun;  /* when the first process began, nanoseconds of the monotonic clock */
    uint64 ended;  /* when the last one ended */
    uint64 cpu;    /* nanoseconds that processes computed, from their program's begin to its end */
    uint64 fences; /* fences executed that the program does not have */
    uint64 begins; /* processes that began, and that ended in order */
    uint64 ends;
    uint64 reserved[2];
} trial_sums_t;

/* Then this for each site. */
typedef struct {
    uint fate;
    byte unaligned; /* the address was not a multiple of the size at least once */
    byte reserved[3];
} trial_site_result_t;

bool trial_sites_init(void);
void trial_sites_exit(void);

uint trial_sites_count(void);
/* More than one group is made non-temporal. */
bool trial_sites_mixed(void);
/* Where stores have to be kept in order, this is done (in unchanged runs, too, if others change). */
bool trial_sites_fenced(void);

trial_sums_t *trial_sums(void);
/* The results of the first site. */
trial_site_result_t *trial_site_results(void);

/* The site whose instruction is at `pc`, or NULL. */
const trial_site_t *trial_site_at(app_pc pc);
void trial_site_note(const trial_site_t *site, site_fate_t fate);

#endif
