/* What the kernel says of the calling thread. */
#ifndef PRESTORE_PROCESS_STATUS_H
#define PRESTORE_PROCESS_STATUS_H

#include "dr_api.h"

/* The number behind `field`, as in "FDSize:"; 0 where it cannot be told. */
uint64 process_status(const char *field, int base);

#endif
