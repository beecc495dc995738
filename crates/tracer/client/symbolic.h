/* What is known about the general registers within a block: each holds the value some register had
 * at some point, plus a constant. Two accesses whose bases are the same but for a constant need
 * one recorded value. */
#ifndef PRESTORE_SYMBOLIC_H
#define PRESTORE_SYMBOLIC_H

#include "dr_api.h"

#define SYM_REGS 16

typedef struct {
    uint version; /* which unknown value; versions are never reused in a block */
    int64 delta;  /* plus this */
} sym_t;

typedef struct {
    sym_t regs[SYM_REGS];
    uint next_version;
} symbolic_t;

void symbolic_init(symbolic_t *s);
/* What `reg` (64-bit) holds. */
sym_t symbolic_get(const symbolic_t *s, reg_id_t reg);
/* Accounts for what `instr` writes. */
void symbolic_step(symbolic_t *s, instr_t *instr);

#endif
