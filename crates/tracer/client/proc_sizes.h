/* How much memory /proc says that the program has, without the recorder's. */
#ifndef PRESTORE_PROC_SIZES_H
#define PRESTORE_PROC_SIZES_H

#include "text.h"

/* Each changes what the kernel says in the file of that name. */
void proc_sizes_status(const text_t *from, text_t *to);
void proc_sizes_stat(const text_t *from, text_t *to);
void proc_sizes_statm(const text_t *from, text_t *to);
void proc_sizes_rollup(const text_t *from, text_t *to);

#endif
