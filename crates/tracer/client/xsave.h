/* Which parts of a thread's state the xsave family saves here, and where. */
#ifndef PRESTORE_XSAVE_H
#define PRESTORE_XSAVE_H

#include <stdint.h>

#include "dr_api.h"

#define XSAVE_TILE_DATA 18
/* Behind the old part, and what of it says which components there are. */
#define XSAVE_HEADER 512
#define XSAVE_HEADER_WORDS 2
/* With a component's size: in the compacted form it begins at a multiple of 64. */
#define XSAVE_ALIGNED 0x80000000u

typedef struct {
    uint32_t entries;         /* 0: the processor has no xsave */
    uint64_t components;      /* bit i: there is a component i */
    uint32_t component[64][2]; /* offset in the standard form, and size (XSAVE_ALIGNED), from 2 on */
} xsave_layout_t;

/* Asks the processor at its first call, which has to come before the program's first instruction:
 * the program can have cpuid refused, to this code as well. */
const xsave_layout_t *xsave_layout(void);

#endif
