/* Which stores can be changed without changing what they mean, and how. */
#ifndef PRESTORE_TRIAL_STORE_H
#define PRESTORE_TRIAL_STORE_H

#include "dr_api.h"
#include "trial_sites.h"

typedef enum {
    FORM_GENERAL,   /* 4 or 8 bytes of a general register: movnti in its place */
    FORM_IMMEDIATE, /* 4 or 8 bytes of a constant: movnti by a register of ours */
    FORM_SCALAR,    /* the lowest 4 or 8 bytes of a vector register: likewise */
    FORM_VECTOR,    /* a whole vector register: a non-temporal store where the address is aligned */
} store_form_t;

typedef struct {
    site_fate_t fate; /* SITE_CHANGED, or why not */
    store_form_t form;
    opnd_t mem;
    opnd_t src;
} store_t;

/* How `instr` would be made non-temporal. */
store_t trial_skipped(instr_t *instr);
/* What `instr` writes, if the line that it leaves can be flushed. */
store_t trial_flushed(instr_t *instr);

/* Does it store to memory by itself, other than to push something on the stack? Then `atomic` says
 * whether it is one. */
bool trial_stores(instr_t *instr, bool *atomic);

#endif
