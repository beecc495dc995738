/* When inlined code may change the arithmetic flags. */
#ifndef PRESTORE_FLAGS_H
#define PRESTORE_FLAGS_H

#include "dr_api.h"

/* The flags that `instr` sets to something that does not depend on what they were: a shift by
 * nothing leaves them, and what a multiplication leaves undefined is not relied on. */
uint flags_set_by(instr_t *instr);

/* Are the flags before `where` overwritten, by one of the next `instrs` instructions of the program,
 * before it reads them and before it can fault? A handler sees them too, so that being dead is not
 * enough. */
bool flags_unseen(instr_t *where, uint instrs);

#endif
