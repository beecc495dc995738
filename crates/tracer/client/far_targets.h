/* Programs that go on in 32-bit code, as far jumps, calls and returns can. */
#ifndef PRESTORE_FAR_TARGETS_H
#define PRESTORE_FAR_TARGETS_H

#include "dr_api.h"

/* `instr`, if it is one of those, is asked for its selector when it is executed: the engine would read what is there as 64-bit
 * code, so the program ends with a message. */
void far_targets_before(void *drcontext, instrlist_t *bb, instr_t *instr);

#endif
