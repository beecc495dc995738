/* Executes a copy of one instruction with a program's registers. */
#ifndef PRESTORE_UNKNOWN_RUN_H
#define PRESTORE_UNKNOWN_RUN_H

#include "insn_length.h"

typedef struct stub_t stub_t;

/* Makes the code that executes the instruction of `code` at `pc`; NULL without memory in reach. */
stub_t *stub_make(app_pc pc, const byte *code, insn_length_t insn);

/* Nobody executes it any more. */
void stub_free(stub_t *stub);

/* Executes it on `mc`; a fault leaves `mc` as it was: false. One thread at a time. */
bool stub_run(void *drcontext, stub_t *stub, dr_mcontext_t *mc);

#endif
