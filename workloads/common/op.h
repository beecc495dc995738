/*
 * The pre-store operations of the paper (its section 2) as an argument of a workload, done by the library.
 *
 * skip is the writer's own business: it must use prestore_copy_skip or a prestore_writer instead of plain stores.
 */
#ifndef WORKLOADS_OP_H
#define WORKLOADS_OP_H

#include "../../include/prestore.h"

enum op { OP_NONE, OP_CLEAN, OP_DEMOTE, OP_SKIP };

/* Words for --op, in the order of the enumeration. */
extern const char *const OP_WORDS[];

/* Applies clean or demote to every line of the range; none and skip do nothing here. */
static inline void op_apply(const void *start, size_t bytes, enum op op)
{
    if (op == OP_CLEAN)
        prestore(start, bytes, PRESTORE_CLEAN);
    else if (op == OP_DEMOTE)
        prestore(start, bytes, PRESTORE_DEMOTE);
}

#endif
