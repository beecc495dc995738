/* The registers that inlined code of ours works with.
 *
 * Each general register has a slot in the thread's raw TLS. A register of ours holds whatever our
 * code put into it, and its slot the program's value; every other register holds the program's
 * value itself. A register becomes ours by one store to its slot and the program's again by one
 * load from it, both always there, so that where the program's values are can be read off the code
 * alone: when a fault is translated (regs.c) and by the checker (check.c).
 *
 * A register of ours is given back before any instruction of the program that reads or writes it,
 * and before the block's last: nothing of ours survives an instruction that touches the register it
 * lives in. The flags are never ours: inlined code does not change them while the program could see
 * it (flags.h). */
#ifndef PRESTORE_REGS_H
#define PRESTORE_REGS_H

#include "assemble.h"
#include "dr_api.h"

#define REGS 16

/* A set of general registers: bit n is DR_REG_RAX + n. */
typedef ushort reg_set_t;

typedef struct {
    uint instrs;
    uint at;          /* index of the program's instruction that code is being inserted before */
    reg_set_t *uses;  /* of each instruction: what it reads or writes */
    reg_set_t ours;
    reg_set_t in_use; /* of ours, those that hold something still needed */
} regs_t;

bool regs_init(void);
void regs_exit(void);

/* For the application instructions of a block. */
regs_t *regs_begin(void *drcontext, instrlist_t *bb);
void regs_end(void *drcontext, regs_t *regs);

reg_set_t reg_set(reg_id_t reg);
/* What an operand takes registers for: addresses, or itself. */
reg_set_t reg_set_of_opnd(opnd_t opnd);

/* A register of ours outside `avoid`, the stack pointer never. One that the program does not touch
 * for long. */
reg_id_t regs_reserve(at_t *at, regs_t *regs, reg_set_t avoid);
/* This one, which must not be in use. */
void regs_reserve_this(at_t *at, regs_t *regs, reg_id_t reg);
/* What it holds is not needed any more. It stays ours until the program needs it. */
void regs_release(regs_t *regs, reg_id_t reg);
bool regs_in_use(const regs_t *regs, reg_id_t reg);

/* The one way to the program's value of a general register: its slot, where the register is ours, or the register itself. */
bool regs_in_slot(const regs_t *regs, reg_id_t reg);
tls_t regs_slot(reg_id_t reg);

/* Gives back those of `set` that are ours, in use or not. */
void regs_give_back(at_t *at, regs_t *regs, reg_set_t set);

/* How many instructions of the block there are from here on, but for its last, which may stand
 * elsewhere (cases.c). */
uint regs_ahead(const regs_t *regs);

/* After the last code before an instruction of the program: gives back what that needs, or all
 * before the last. */
void regs_next(at_t *at, regs_t *regs);

/* Where a register's slot is in thread storage. */
int regs_slot_offset(reg_id_t reg);

/* Sets in `mc` what the program has in the registers of ours in `set`. */
void regs_restore(void *drcontext, reg_set_t set, dr_mcontext_t *mc);

/* Follows code of the cache: is `instr` the store that makes a register ours or the load that gives
 * it back? Then the set of registers of ours changes. */
reg_set_t regs_follow(reg_set_t ours, instr_t *instr);

#endif
