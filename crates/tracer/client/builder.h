/* A block's plan while it is made. */
#ifndef PRESTORE_BUILDER_H
#define PRESTORE_BUILDER_H

#include "dr_api.h"
#include "plan.h"
#include "symbolic.h"
#include "wire.h"

#define NO_VERSION 0xffffffffu
#define MAX_CODE 17 /* bytes of an instruction, as the engine takes them */

/* A recorded address base: what it was and where the value is. */
typedef struct {
    uint base;  /* version, NO_VERSION: none */
    uint index; /* version, NO_VERSION: none */
    byte scale;
    reg_id_t segment;
    int64 base_delta;
    int64 index_delta;
    ushort slot;
} known_t;

typedef struct {
    void *drcontext;
    plan_t *plan;
    symbolic_t symbolic;
    known_t known[PLAN_MAX_CAPTURES];
    uint n_known;
    wire_ref_t refs[PLAN_MAX_REFS];
    capture_t captures[PLAN_MAX_CAPTURES];
    byte lengths[512];
    byte code[512 * MAX_CODE];
    uint code_bytes;
    /* Of string instructions: which way they go, as far as the block tells. */
    enum { DIRECTION_UNKNOWN, DIRECTION_UP, DIRECTION_DOWN } direction;
    uint flags_instr; /* whose flags were captured last */
    ushort flags_slot;
    ushort tiles_slot; /* the configuration of tiles, where it was captured */
    bool reads_back; /* something is captured that needs its reference */
    enum { FRAME_UNKNOWN, FRAME_YES, FRAME_NO } frame; /* is rbp a frame pointer at the begin? */
} builder_t;

/* Has `opnd` written to `words` of the record, before instruction number `instr`. */
capture_t *builder_capture(builder_t *b, capture_what_t what, uint instr, opnd_t opnd, uint words);
/* Another reference of the block. */
wire_ref_t *builder_ref(builder_t *b, uint instr, byte kind, byte mode, app_pc pc, uint size);
/* Sets slot and disp of `r` so that they give the address of `mem` before the instruction, plus
 * `late`. */
void builder_address(builder_t *b, wire_ref_t *r, opnd_t mem, int64 late);

#endif
