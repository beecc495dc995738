/* The lists of a process's mappings, without the engine's. */
#ifndef PRESTORE_PROC_MAPS_H
#define PRESTORE_PROC_MAPS_H

#include "text.h"

void proc_maps_init(const char *engine_file);

/* Filters what the kernel says in maps and smaps: lines that begin with a range of addresses, each
 * perhaps followed by lines about it. `own`: they are of this process. */
void proc_maps_filter(const char *text, size_t length, bool own, text_t *out);

/* Calls `each` with every writable range of this process that is the program's. `file`: what was not
 * touched in it holds what the file holds. */
void proc_maps_each_writable(void (*each)(uint64 begin, uint64 end, bool file, void *of), void *of);

/* Calls `each` with every part of [begin, end) that is mapped alike; whose it is is not looked at, which takes a while for each
 * page of the process. False: there is no list. */
bool proc_maps_each_part(uint64 begin, uint64 end, void (*each)(uint64 begin, uint64 end, bool file, void *of), void *of);

/* Of what this process has mapped from `*begin` to `*end`, as `path` (empty: of no file), the first part that is the program's and ends
 * behind `from`. False: there is none. `*heap`: it is of the program's heap, for which the kernel has no name. */
bool proc_maps_part(const char *path, uint64 from, uint64 *begin, uint64 *end, bool *heap);

/* Is it one of the engine's files? */
bool proc_maps_is_engine(const char *path);

/* Remembers the program's heap, which the engine keeps for it: brk's result. */
void proc_maps_brk(uint64 end);

#endif
