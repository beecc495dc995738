/* Reading the program's memory where it may not be readable. */
#ifndef PRESTORE_PEEK_H
#define PRESTORE_PEEK_H

#include <stddef.h>

/* Reads at most `size` bytes, up to the end of what is readable; how many. Not dr_safe_read: its
 * faults are signals, and a process that is held by a debugger stops at those, whose parent may be
 * waiting for its vfork to end. */
size_t peek(const void *at, void *to, size_t size);

/* A text; empty where there is none, or none that ends within `size`. */
void peek_text(const void *at, char *to, size_t size);

#endif
