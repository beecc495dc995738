/*
 * The pre-store operations of the paper (its section 2), as an argument of a workload.
 *
 *   clean    write dirty lines back, keep them where the machine can:
 *            clwb, else clflushopt, else clflush by CPUID; dc cvac on AArch64
 *   demote   move lines to a farther cache level: cldemote, a NOP where it is missing; dc cvau on AArch64
 *   skip     write around the caches: non-temporal stores; the writer itself must use prestore_copy_skip or
 *            prestore_store_skip instead of plain stores
 *
 * Elsewhere clean and demote do nothing and skip stores plainly.
 */
#ifndef WORKLOADS_PRESTORE_OP_H
#define WORKLOADS_PRESTORE_OP_H

#include <stddef.h>
#include <stdint.h>

enum prestore_op { OP_NONE, OP_CLEAN, OP_DEMOTE, OP_SKIP };

/* Words for --op, in the order of the enumeration. */
extern const char *const PRESTORE_OPS[];

/* Applies clean or demote to every line of the range; none and skip do nothing here. */
void prestore_range(const void *start, size_t bytes, enum prestore_op op);

/* Copies whole 8-byte words with non-temporal stores. */
void prestore_copy_skip(void *to, const void *from, size_t bytes);

/* One non-temporal store of a word. */
static inline void prestore_store_skip(uint64_t *to, uint64_t word)
{
#if defined(__x86_64__)
    __asm__ __volatile__("movnti %1, %0" : "=m"(*to) : "r"(word));
#else
    *(volatile uint64_t *)to = word;
#endif
}

/* Orders earlier non-temporal stores before later stores, as publishing what they wrote needs. */
static inline void prestore_skip_fence(void)
{
#if defined(__x86_64__)
    __asm__ __volatile__("sfence" : : : "memory");
#else
    __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

#endif
