/* The copies of the kernel's files about this process that it has open. */
#ifndef PRESTORE_PROC_COPIES_H
#define PRESTORE_PROC_COPIES_H

#include "proc_paths.h"

void proc_copies_init(void);

void proc_copies_exit(void);

void proc_copies_forked(void);

void proc_copies_add(long number, const file_of_t *of);

/* Is `number` a copy, and of which file? No longer where the program opened many since, nor in who inherited it: that reads of who
 * opened it. */
bool proc_copies_find(long number, file_of_t *of);

#endif
