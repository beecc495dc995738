/* Which pages of the program's memory hold anything. */
#ifndef PRESTORE_PRESENT_H
#define PRESTORE_PRESENT_H

#include "dr_api.h"

/* Calls `each` for what of [begin, end), anonymous memory, holds anything, and `none` for what lies between: pages that nobody
 * has touched. False, and nothing called: the kernel does not tell. */
typedef void (*present_part_t)(uint64 begin, uint64 end, void *of);
bool present_parts(uint64 begin, uint64 end, present_part_t each, present_part_t none, void *of);

#endif
