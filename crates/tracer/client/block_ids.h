/* Numbers for blocks: the same description gets the same number again, also when the engine
 * translates the code anew, and the host is told of each description once. */
#ifndef PRESTORE_BLOCK_IDS_H
#define PRESTORE_BLOCK_IDS_H

#include "dr_api.h"
#include "wire.h"

void block_ids_init(void);
void block_ids_exit(void);

/* A block's instructions, one behind the other. */
typedef struct {
    const byte *lengths; /* one each */
    const byte *code;
    uint bytes;
} code_t;

/* The number of the block that `head` (its id 0), `refs` and `code` describe. */
uint block_id(void *drcontext, const wire_block_t *head, const wire_ref_t *refs,
              const code_t *code);

/* Numbers given so far end before this, for a forked child. */
uint block_ids_next(void);

#endif
