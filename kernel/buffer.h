/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of one type: pages of ours, and their mapping into a program. */
#ifndef PRESTORE_BUFFER_H
#define PRESTORE_BUFFER_H

#include <linux/mm_types.h>
#include <linux/types.h>

struct prestore_buffer;

/* Bits 1 << type of the types that this machine can have. */
u32 prestore_types(void);

/* Zeroed memory of a type that the machine can have; an ERR_PTR where there is none. */
struct prestore_buffer *prestore_buffer_new(u32 type, unsigned long count);

/* Gives it back, write-back again. Nobody may have it mapped. */
void prestore_buffer_free(struct prestore_buffer *buffer);

/* Pages. */
unsigned long prestore_buffer_count(const struct prestore_buffer *buffer);

/* Maps all of the VMA, from page vm_pgoff on, which the caller has checked. */
int prestore_buffer_map(struct prestore_buffer *buffer, struct vm_area_struct *vma);

#endif
