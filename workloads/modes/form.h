/* How a program makes what it stores persistent, for each caching mode of its memory (P1, section 3.3). */
#ifndef WORKLOADS_FORM_H
#define WORKLOADS_FORM_H

#include "../common/attributes.h"

#include <stddef.h>
#include <stdint.h>

enum form {
    FORM_NONE,       /* not at all */
    FORM_ORDER,      /* write-through, uncacheable, persistent caches: the order of the stores, by the compiler alone */
    FORM_FENCE,      /* write-combining: a fence */
    FORM_CLFLUSH,    /* write-back: fence, clflush, fence for each line */
    FORM_CLFLUSHOPT, /* write-back: clflushopt for each line, a store fence */
    FORM_CLWB,       /* write-back: clwb for each line, a store fence */
    FORM_DEMOTE,     /* write-back: cldemote and clwb for each line, a store fence */
    FORM_NT,         /* write-back: non-temporal stores, a fence */
};

/* Words for --form, in the order of the enumeration. */
extern const char *const FORM_WORDS[];

/* Ends the program with exit code 2 where the processor lacks the form's instructions. */
void form_require(enum form form);

#if defined(__x86_64__)

static inline void fence_full(void) { __asm__ volatile("mfence" : : : "memory"); }
static inline void fence_store(void) { __asm__ volatile("sfence" : : : "memory"); }
static inline void line_clflush(const volatile char *at) { __asm__ volatile("clflush %0" : : "m"(*at) : "memory"); }
static inline void line_clflushopt(const volatile char *at) { __asm__ volatile("clflushopt %0" : : "m"(*at) : "memory"); }
static inline void line_clwb(const volatile char *at) { __asm__ volatile("clwb %0" : : "m"(*at) : "memory"); }
/* A NOP where the processor does not know it. */
static inline void line_demote(const volatile char *at) { __asm__ volatile("cldemote %0" : : "m"(*at) : "memory"); }
static inline void store_nt(uint64_t *at, uint64_t value)
{
    __asm__ volatile("movnti %1, %0" : "=m"(*at) : "r"(value) : "memory");
}

#elif defined(__aarch64__)

static inline void fence_full(void) { __asm__ volatile("dsb sy" : : : "memory"); }
static inline void fence_store(void) { __asm__ volatile("dsb ishst" : : : "memory"); }
static inline void line_clflush(const volatile char *at) { __asm__ volatile("dc civac, %0" : : "r"(at) : "memory"); }
static inline void line_clflushopt(const volatile char *at) { line_clflush(at); }
static inline void line_clwb(const volatile char *at) { __asm__ volatile("dc cvac, %0" : : "r"(at) : "memory"); }
static inline void line_demote(const volatile char *at) { __asm__ volatile("dc cvau, %0" : : "r"(at) : "memory"); }
/* There is no such store of one register. */
static inline void store_nt(uint64_t *at, uint64_t value) { *(volatile uint64_t *)at = value; }

#else
#error "x86-64 or AArch64"
#endif

/* Stores a word, in the place where the source says so. */
static inline void put(enum form form, uint64_t *at, uint64_t value)
{
    if (form == FORM_NT)
        store_nt(at, value);
    else
        *(volatile uint64_t *)at = value;
}

/* Is it lines that are made persistent, and not all that was stored before? */
static inline int form_is_by_line(enum form form)
{
    return form >= FORM_CLFLUSH && form <= FORM_DEMOTE;
}

/* Returns when what was put into these bytes is persistent. Under FORM_ORDER that is when memory has taken it: what is put
 * after it cannot be persistent before. */
static inline void persist(enum form form, const void *start, size_t bytes)
{
    uintptr_t first = (uintptr_t)start & ~(uintptr_t)(CACHE_LINE_SIZE - 1), end = (uintptr_t)start + bytes;

    switch (form) {
    case FORM_NONE:
        return;
    case FORM_ORDER:
        COMPILER_BARRIER();
        return;
    case FORM_FENCE:
    case FORM_NT:
        fence_full();
        return;
    case FORM_CLFLUSH:
        for (uintptr_t line = first; line < end; line += CACHE_LINE_SIZE) {
            fence_full();
            line_clflush((const volatile char *)line);
            fence_full();
        }
        return;
    case FORM_CLFLUSHOPT:
        for (uintptr_t line = first; line < end; line += CACHE_LINE_SIZE)
            line_clflushopt((const volatile char *)line);
        break;
    case FORM_CLWB:
        for (uintptr_t line = first; line < end; line += CACHE_LINE_SIZE)
            line_clwb((const volatile char *)line);
        break;
    case FORM_DEMOTE:
        for (uintptr_t line = first; line < end; line += CACHE_LINE_SIZE) {
            line_demote((const volatile char *)line);
            line_clwb((const volatile char *)line);
        }
        break;
    }
    fence_store();
}

#endif
