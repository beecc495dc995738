/*
 * The library mode of prestore(), part of prestore.h: the library decides, the usual instruction stands in line.
 *
 * Where the operation is a constant and the library chose the instruction named below, a call costs a load and a
 * comparison more than the instruction, and the search for the lines' addresses: none where the compiler knows that
 * the address is aligned (__builtin_assume_aligned) and the size, on x86-64. What was chosen is remembered once an
 * executable or shared object.
 */
#ifndef PRESTORE_LIBRARY_H
#define PRESTORE_LIBRARY_H

#include "prestore_lines.h"

#if defined(__x86_64__)
#define PRESTORE_USUAL_CLEAN_(line) __asm__ __volatile__("clwb (%0)" : : "r"(line) : "memory")
#define PRESTORE_USUAL_DEMOTE_(line) __asm__ __volatile__("cldemote (%0)" : : "r"(line) : "memory")
#elif defined(__aarch64__)
#define PRESTORE_USUAL_CLEAN_(line) __asm__ __volatile__("dc cvac, %0" : : "r"(line) : "memory")
#define PRESTORE_USUAL_DEMOTE_(line) __asm__ __volatile__("dc cvau, %0" : : "r"(line) : "memory")
#else
/* Never reached: the library answers 0. */
#define PRESTORE_USUAL_CLEAN_(line) ((void)(line))
#define PRESTORE_USUAL_DEMOTE_(line) ((void)(line))
#endif

/* The operation does nothing here. */
#define PRESTORE_USUAL_NOTHING_ 1

/* What stands in line is for these lines: of 64 bytes on x86-64, as on every CPU so far, of any size elsewhere. */
#if defined(__x86_64__)
#define PRESTORE_USUAL_LINE_(remembered) 64
#define PRESTORE_USUAL_FITS_(remembered) ((remembered) == 64)
#else
#define PRESTORE_USUAL_LINE_(remembered) (remembered)
#define PRESTORE_USUAL_FITS_(remembered) ((remembered) > PRESTORE_USUAL_NOTHING_)
#endif

/*
 * What the library chose, by operation: bytes a cache line if it is the instruction above, 0 if it is another, or was
 * not yet asked for. Written with the same values whoever asks.
 */
__attribute__((weak, visibility("hidden"))) uint32_t prestore_usual_[2];

/* Applies the operation as the library chose, and remembers that in usual. */
extern void prestore_remember_(const void *addr, size_t size, prestore_op op, uint32_t *usual);

static inline __attribute__((unused, always_inline)) void prestore(const void *addr, size_t size, prestore_op op)
{
    if (__builtin_constant_p(op) && (op == PRESTORE_CLEAN || op == PRESTORE_DEMOTE)) {
        const uint32_t usual = __atomic_load_n(&prestore_usual_[op], __ATOMIC_RELAXED);

        /* Asked first: whoever has the instruction pays for one comparison. */
        if (__builtin_expect(PRESTORE_USUAL_FITS_(usual), 1)) {
            if (size == 0)
                return;
            if (op == PRESTORE_CLEAN)
                PRESTORE_EACH_LINE_(addr, size, PRESTORE_USUAL_LINE_(usual), PRESTORE_USUAL_CLEAN_);
            else
                PRESTORE_EACH_LINE_(addr, size, PRESTORE_USUAL_LINE_(usual), PRESTORE_USUAL_DEMOTE_);
            return;
        }
        if (usual == PRESTORE_USUAL_NOTHING_)
            return;
    }
    prestore_remember_(addr, size, op, prestore_usual_);
}

#endif
