/* Memory that starts on a cache line. */
#ifndef WORKLOADS_MEMORY_H
#define WORKLOADS_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroed, page-aligned memory that the kernel supplies at first touch, so asking for it writes nothing; large memory in
 * large pages, so that times are those of caches and memory and not of address translation.
 * Ends the program with a message and exit code 1 if there is none. */
void *memory_fresh(size_t bytes);

/* Returns what memory_fresh gave. */
void memory_release(void *memory, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
