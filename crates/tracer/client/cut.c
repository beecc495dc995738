#include "cut.h"

void
cut_block(void *drcontext, instrlist_t *bb, instr_t *first)
{
    while (first != NULL) {
        instr_t *next = instr_get_next(first);
        instrlist_remove(bb, first);
        instr_destroy(drcontext, first);
        first = next;
    }
}
