/* What memory holds, written down among a thread's records (REC_BYTES). */
#ifndef PRESTORE_BYTES_H
#define PRESTORE_BYTES_H

#include "dr_api.h"
#include "wire.h"

/* What is at `address` now; where it cannot be read, nothing, and that it is unknown where the program would have to provide it. */
void bytes_now(void *drcontext, enum bytes_what what, uint64 address, uint64 bytes);

/* These bytes, which are at `address` or would be. */
void bytes_are(void *drcontext, enum bytes_what what, uint64 address, const void *data,
               uint64 bytes);

/* A range without data. */
void bytes_range(void *drcontext, enum bytes_what what, uint64 address, uint64 bytes);

/* A range that has moved. */
void bytes_moved(void *drcontext, uint64 from, uint64 to, uint64 bytes);

#endif
