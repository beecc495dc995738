/* Blocks that end early, so that something happens between blocks. */
#ifndef PRESTORE_CUT_H
#define PRESTORE_CUT_H

#include "dr_api.h"

/* Removes `first` and all behind it from `bb`, before it is instrumented. */
void cut_block(void *drcontext, instrlist_t *bb, instr_t *first);

#endif
