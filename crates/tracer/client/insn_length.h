/* How long an instruction is that the engine does not know. */
#ifndef PRESTORE_INSN_LENGTH_H
#define PRESTORE_INSN_LENGTH_H

#include "dr_api.h"

typedef struct {
    uint length;  /* bytes; 0: not one that can be executed elsewhere */
    uint rip_disp; /* where its rip-relative displacement is, 0: none */
} insn_length_t;

/* Looks at the `available` bytes (up to 15) at `code`. The maps of x86-64 fix an instruction's
 * form by where its opcode lies, so that opcodes of no known meaning have a length as well.
 * Branches, system calls, and what addresses through fs or gs (the engine has its own) get 0. */
insn_length_t insn_length(const byte *code, uint available);

#endif
