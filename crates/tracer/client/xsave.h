/* Which parts of a thread's state the xsave family saves here, and where. */
#ifndef PRESTORE_XSAVE_H
#define PRESTORE_XSAVE_H

#include <stdint.h>

#include "dr_api.h"

#define XSAVE_TILE_DATA 18

typedef struct {
    uint32_t entries;         /* 0: the processor has no xsave */
    uint64_t components;      /* bit i: there is a component i */
    uint32_t component[64][2]; /* offset in the standard form, and size, from 2 on */
} xsave_layout_t;

/* Asks the processor at its first call, which has to come before the program's first instruction:
 * the program can have cpuid refused, to this code as well. */
const xsave_layout_t *xsave_layout(void);

#endif
