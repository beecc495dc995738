/* Allocation events: the malloc family and C++ new by their symbols, mmap and brk by system call. */
#ifndef PRESTORE_ALLOC_H
#define PRESTORE_ALLOC_H

#include "dr_api.h"

/* Registers for threads, modules and system calls; after thread_init. */
void alloc_init(void);
void alloc_exit(void);

/* Inserts at `where` what watches allocators before `instr`; before the block's own record is begun.
 * The two differ where a block has two copies that share their last instruction. */
void alloc_insert(void *drcontext, instrlist_t *bb, instr_t *instr, instr_t *where);

#endif
