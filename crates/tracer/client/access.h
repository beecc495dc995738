/* What an instruction does to memory, beyond what its operands say. */
#ifndef PRESTORE_ACCESS_H
#define PRESTORE_ACCESS_H

#include "dr_api.h"

typedef enum {
    SHAPE_NONE,     /* operands that look like memory are no accesses (lea, nop, prefetch) */
    SHAPE_PLAIN,    /* every memory operand is an access of its size */
    SHAPE_FLUSH,    /* flushes or demotes one line */
    SHAPE_FENCE,    /* no operand */
    SHAPE_REGION,   /* a source region mark */
    SHAPE_REP,      /* repeated string instruction, runs to its count */
    SHAPE_REP_UNTIL,/* repeated string instruction that may stop early */
    SHAPE_BIT_MASK, /* lanes by an AVX-512 mask register */
    SHAPE_TOP_MASK, /* lanes by the top bits of a vector register */
    SHAPE_PACKED,   /* as many lanes as the mask has bits */
    SHAPE_GATHER,   /* addresses from an index vector; also scatters */
    SHAPE_XSAVE,    /* state components by edx:eax */
    SHAPE_TILE,     /* rows of a tile */
    SHAPE_BIT,      /* one bit, as far from the operand as a register says */
} shape_t;

typedef struct {
    shape_t shape;
    byte kind;         /* of flushes, fences and region marks; of the store otherwise */
    byte element;      /* bytes a lane */
    byte form;         /* of SHAPE_XSAVE, as in wire.h */
    ushort region;     /* id of a region mark */
    opnd_t mask;       /* register with the mask, or with the number of the bit */
} access_t;

/* Is `instr` one that the program executes, and no label or code of ours? */
static inline bool
is_program_instr(instr_t *instr)
{
    return instr_is_app(instr) && instr->opcode != OP_LABEL && instr->translation != NULL;
}

/* Bytes of it where the program has it, whatever has been made of it. */
uint program_length(void *drcontext, instr_t *instr);

/* Classifies `instr`. */
access_t access_of(instr_t *instr);

/* Does `instr` load from what the engine takes for the operand it writes? */
bool reads_its_target(instr_t *instr);

/* How many bytes `instr` accesses by `mem`; of those with lanes or counts see access_t. */
uint access_bytes(instr_t *instr, opnd_t mem);

/* By how much the stack pointer has moved when `instr` computes the address of `mem`, which it
 * writes: a pop to an address relative to the stack pointer; an `enter` that copies frame pointers. */
int64 moved_stack(instr_t *instr, opnd_t mem);

/* Is `reg` an AVX-512 mask register? */
bool is_mask_reg(reg_id_t reg);

#endif
