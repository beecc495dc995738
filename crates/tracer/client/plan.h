/* What to write at run time for one block, and the block's description for the host. */
#ifndef PRESTORE_PLAN_H
#define PRESTORE_PLAN_H

#include "dr_api.h"
#include "wire.h"

#define PLAN_MAX_REFS 640
#define PLAN_MAX_CAPTURES 640

typedef enum {
    CAP_REG,      /* a general register, as it is before the instruction */
    CAP_ADDRESS,  /* the address of a memory operand without its displacement */
    CAP_MASK,     /* an AVX-512 mask register */
    CAP_VECTOR,   /* a vector register */
    CAP_FEATURES, /* edx:eax, the requested state components */
    CAP_VALUE,    /* the bytes a store has written, after the instruction */
    CAP_HEADER,   /* of the area that state is saved to or restored from, after the instruction */
    CAP_TILES,    /* the configuration of tiles */
    CAP_FLAGS,    /* the flags, for the direction of string instructions */
} capture_what_t;

typedef struct {
    ushort instr;
    ushort slot;
    bool after; /* of the instruction, not before */
    byte what;
    ushort ref; /* CAP_VALUE, CAP_HEADER: whose bytes */
    opnd_t opnd;
} capture_t;

typedef struct {
    uint id; /* 0: nothing to record (no room to describe it) */
    uint instrs;
    uint words;
    uint n_refs;
    uint n_captures;
    bool stamped; /* between two time stamps: the block ends with an atomic */
    wire_block_t head;
    wire_ref_t *refs;    /* where something stored or restored is read back; or NULL */
    capture_t *captures; /* in program order */
    const struct stored_t *stored; /* of the last instruction, what is copied behind it; or NULL */
} plan_t;

/* Looks at the application instructions of a block and describes it; the same block gets the same
 * id again. Free with plan_free. */
plan_t *plan_make(void *drcontext, instrlist_t *bb);
void plan_exit(void);
void plan_free(void *drcontext, plan_t *plan);

#endif
