/* A process's meta log: a file that only grows, written by way of a mapping. Blocks are described one by one, and a system call
 * for each is much of what code costs that runs a few times. */
#ifndef PRESTORE_META_LOG_H
#define PRESTORE_META_LOG_H

#include "dr_api.h"

/* Begins an empty log. In a forked child the parent's goes on in the parent. */
void meta_log_begin(void);

/* Appends whole frames, of at most META_LOG_STEP bytes, to the log in `file`; nobody else does meanwhile. Returns 0 or the
 * error's number. */
int meta_log_append(file_t file, const void *frames, size_t bytes);

#define META_LOG_STEP (32u << 10)

#endif
