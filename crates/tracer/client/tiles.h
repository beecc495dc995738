/* Loads and stores of tiles (AMX): rows of memory, as many and as long as the thread has configured. */
#ifndef PRESTORE_TILES_H
#define PRESTORE_TILES_H

#include "builder.h"
#include "emit.h"
#include "touches.h"

/* Has this processor tiles? Where it has none, what loads and stores them is refused by it, and so would be what asks for their
 * configuration. */
bool tiles_exist(void);

/* Makes `r` the reference of `instr`, number `i` of the block, which accesses `mem`. */
void tiles_reference(builder_t *b, wire_ref_t *r, uint i, instr_t *instr, opnd_t mem);

/* Before each instruction: does the configuration change there? */
void tiles_step(builder_t *b, instr_t *instr);

/* The configuration's TILE_CONFIG_WORDS to the record at `base` plus `disp`. */
void tiles_capture(at_t *at, reg_id_t base, int disp);

/* The rows that `r` touches: touches_of(). */
uint tiles_touched(const wire_ref_t *r, const uint64 *values, uint64 base, touch_t *out);

#endif
