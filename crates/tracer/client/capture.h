/* The inlined code for one captured value. */
#ifndef PRESTORE_CAPTURE_H
#define PRESTORE_CAPTURE_H

#include "emit.h"

void capture_init(void);

/* Writes `c` to its place in the record. */
void capture_emit(at_t *at, emit_t *e,
                  const capture_t *c);

#endif
