/* Allocation events: the malloc family and C++ new by their symbols, mmap and brk by system call. */
#ifndef PRESTORE_ALLOC_H
#define PRESTORE_ALLOC_H

#include "regs.h"

/* Registers for threads, modules and system calls; after thread_init. */
void alloc_init(void);
void alloc_exit(void);

/* Inserts what watches allocators: at a function's entry, before the block's own record is
 * begun; before a return, when the record is complete, as it may hand the buffer over. `instr` is not
 * where the code goes where a block has two copies that share their last instruction. */
void alloc_entry(at_t *at, instr_t *instr, regs_t *regs);
void alloc_return(at_t *at, instr_t *instr, regs_t *regs);

#endif
