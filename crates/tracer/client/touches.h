/* Which bytes a reference touches, as crates/trace/src/replay/events.rs tells it from the same
 * words. */
#ifndef PRESTORE_TOUCHES_H
#define PRESTORE_TOUCHES_H

#include "dr_api.h"
#include "wire.h"

typedef struct {
    uint64 address, bytes;
} touch_t;

#define MAX_TOUCHES 64

/* The stretches of memory that `r` touches, given the values of its block; how many. */
uint touches_of(const wire_ref_t *r, const uint64 *values, touch_t *out);

#endif
