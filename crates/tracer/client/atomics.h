/* Blocks end behind atomic read-modify-writes. */
#ifndef PRESTORE_ATOMICS_H
#define PRESTORE_ATOMICS_H

#include "dr_api.h"

/* The time behind an atomic is recorded between two blocks. */
bool atomics_init(void);

#endif
