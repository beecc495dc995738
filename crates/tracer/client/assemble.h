/* Code of ours, written as bytes.
 *
 * A block's record takes some twenty instructions. As instructions of the engine each would be allocated with its operands,
 * linked, walked over by the engine's passes and encoded more than once, which made up a sixth of what recording a compiler
 * cost. Written as bytes, all that stands before one instruction of the program is a single piece to the engine. It
 * does not depend on where it lies: jumps stay within it or go by way of thread storage. */
#ifndef PRESTORE_ASSEMBLE_H
#define PRESTORE_ASSEMBLE_H

#include "dr_api.h"

#define PIECE_BYTES 512

/* A place in a block where code is inserted, and what is not inserted yet. */
typedef struct {
    void *drcontext;
    instrlist_t *bb;
    instr_t *where; /* the code goes before it */
    uint open;      /* jumps whose target is ahead */
    uint n;
    byte bytes[PIECE_BYTES];
} at_t;

/* Code before `where` begins. */
void at_begin(at_t *at, void *drcontext, instrlist_t *bb, instr_t *where);
/* Inserts what has been written: before code that is inserted otherwise, and at the end. */
void at_flush(at_t *at);

/* Inserts an instruction of the engine's, of which there are few. */
void insert(at_t *at, instr_t *instr);

/* Is `instr` a piece of code? It looks like a nop. */
bool is_piece(instr_t *instr);

/* A place in thread storage. */
typedef struct {
    reg_id_t segment;
    int offset;
} tls_t;

/* Moves of 64 bits. */
void code_load_tls(at_t *at, reg_id_t reg, tls_t from);
void code_store_tls(at_t *at, tls_t to, reg_id_t reg);
void code_immediate(at_t *at, reg_id_t reg, uint64 value);
/* Of the low `bytes` of `reg`: 8, 4, 2 or 1. */
void code_load(at_t *at, reg_id_t reg, reg_id_t base, int disp, uint bytes);
void code_store(at_t *at, reg_id_t base, int disp, reg_id_t reg, uint bytes);
/* Of 32 bits; a load of a constant clears the upper half. */
void code_store_constant(at_t *at, reg_id_t base, int disp, int value);
void code_constant(at_t *at, reg_id_t reg, int value);

/* reg := base + disp, base + index * scale: either register may be DR_REG_NULL there. */
void code_add(at_t *at, reg_id_t reg, reg_id_t base, int disp);
void code_sum(at_t *at, reg_id_t reg, reg_id_t base, reg_id_t index, uint scale);

/* These change the flags. */
void code_compare_tls(at_t *at, reg_id_t reg, tls_t with);
void code_subtract_tls(at_t *at, tls_t from, int value);
void code_increment(at_t *at, reg_id_t base, int disp);

/* These do not. The time-stamp counter goes to edx and eax. */
void code_read_time(at_t *at);
void code_load_fence(at_t *at);
void code_not(at_t *at, reg_id_t reg);
void code_swap_bytes(at_t *at, reg_id_t reg);

/* Jumps ahead by up to 127 bytes; what they give, code_land takes where they go. */
typedef enum { JUMP_ALWAYS, JUMP_BELOW, JUMP_NOT_SIGN, JUMP_ECX_ZERO, JUMP_RCX_ZERO } jump_t;
typedef struct {
    uint at, bytes;
} ahead_t;
ahead_t code_jump(at_t *at, jump_t jump);
/* Jumps if the upper half of rcx is zero; changes rcx, but no flags. */
ahead_t code_jump_if_upper_zero(at_t *at);
/* reg := the address of what is ahead. */
ahead_t code_address(at_t *at, reg_id_t reg);
void code_land(at_t *at, ahead_t ahead);
/* Jumps to the address that is kept there. */
void code_jump_by_tls(at_t *at, tls_t by);

#endif
