/*
 * Pre-stores: move written data down the memory hierarchy before the hardware would. C99 or C++11.
 *
 *     craft_value(value, size);
 *     prestore(value, size, PRESTORE_CLEAN);      // writes it to memory in the background, keeps it cached
 *
 * All operations are hints about time. They never change what the program computes, they order nothing between
 * threads (prestore_fence does) and they make nothing durable. In the wrong place they hurt: cleaning a line that
 * is written again at once is up to 75 times slower. docs/man has a page a function.
 *
 * Link with -lprestore (pkg-config prestore; CMake prestore::prestore): the instructions are chosen once, by CPU,
 * operating system and environment switches. Or define PRESTORE_INLINE before including this header: no library,
 * the instructions are those that the compiler's -march allows (-mclwb, -mclflushopt, -mcldemote, -mavx, …).
 * prestore_query says in both cases what was chosen and why.
 *
 * Region markers for the Prestore tracer come along: prestore_region.h. Memory of a chosen type: prestore_map.h.
 */
#ifndef PRESTORE_H
#define PRESTORE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "prestore_region.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef PRESTORE_INLINE
#define PRESTORE_API static inline __attribute__((unused))
#else
#define PRESTORE_API extern
#endif

typedef enum prestore_op {
    PRESTORE_DEMOTE = 0, /* to a farther cache level, or out of the core's private buffers */
    PRESTORE_CLEAN = 1,  /* dirty lines to memory; they stay cached */
    PRESTORE_SKIP = 2    /* around the caches: for the query only, see the …_skip functions */
} prestore_op;

/*
 * Applies DEMOTE or CLEAN to every cache line that holds one of the `size` bytes at `addr`, and returns at once.
 * Any address and size; size 0 does nothing. The range must be mapped and readable.
 */
#ifdef PRESTORE_INLINE
PRESTORE_API void prestore(const void *addr, size_t size, prestore_op op);
#else
#include "prestore_library.h"
#endif

/*
 * As memcpy and memset, but around the caches: whole lines with non-temporal stores, what is left at both ends with
 * ordinary ones. Returns dst. Call prestore_fence before another thread may learn that the data is there.
 */
PRESTORE_API void *prestore_copy_skip(void *dst, const void *src, size_t n);
PRESTORE_API void *prestore_fill_skip(void *dst, int byte, size_t n);

/* Orders this thread's earlier stores, non-temporal ones too, before its later stores. */
PRESTORE_API void prestore_fence(void);

/* What stands behind an operation. The texts live as long as the program. */
typedef struct prestore_info {
    const char *instruction; /* "clwb", "clflushopt", "clflush", "dc cvac", "cldemote", "dc cvau", "none"; for
                                PRESTORE_SKIP "movnt avx512", "movnt avx", "movnt sse2", "stnp", "plain stores" */
    const char *reason;      /* why this one */
    const char *warning;     /* a switch that was not followed, and why; NULL if none */
    const char *line_source; /* where line_size comes from */
    size_t line_size;        /* bytes a cache line */
    int active;              /* 0: the operation has no effect here */
    int retains;             /* the data stays cached: 0 no, 1 yes, 2 the CPU model decides */
} prestore_info;

/* Fills in *info. 0, or -1 if there is no such operation. */
PRESTORE_API int prestore_query(prestore_op op, prestore_info *info);

/* The instruction's name alone; NULL if there is no such operation. */
PRESTORE_API const char *prestore_chosen(prestore_op op);

/*
 * The streaming writer: for values crafted piece by piece at ascending addresses. It collects lines on the stack and
 * writes each complete one as a whole, around the caches, when the next is complete, too, or the writer is closed.
 * Read back only after close; fence as for copies.
 */
#define PRESTORE_WRITER_LINE 64

typedef struct prestore_writer {
    unsigned char stage[2 * PRESTORE_WRITER_LINE];
    unsigned char *line;
    uint32_t begin;
    uint32_t next;
    uint32_t held;
} __attribute__((aligned(PRESTORE_WRITER_LINE))) prestore_writer_t;

/* Begins at dst, which may have any alignment. */
PRESTORE_API void prestore_writer_open(prestore_writer_t *writer, void *dst);

/* Appends n bytes. */
PRESTORE_API void prestore_writer_put(prestore_writer_t *writer, const void *bytes, size_t n);

/* Writes the incomplete last line with ordinary stores. Returns the address after the last byte. */
PRESTORE_API void *prestore_writer_close(prestore_writer_t *writer);

#define PRESTORE_WRITER_PUT_(name, type)                                                                \
    static inline __attribute__((unused)) void name(prestore_writer_t *writer, type value)              \
    {                                                                                                   \
        if (writer->next % PRESTORE_WRITER_LINE + sizeof value < PRESTORE_WRITER_LINE) {                \
            memcpy(writer->stage + writer->next, &value, sizeof value);                                 \
            writer->next += (uint32_t)sizeof value;                                                     \
        } else {                                                                                        \
            prestore_writer_put(writer, &value, sizeof value);                                          \
        }                                                                                               \
    }

/* Append a value of 1, 2, 4, 8 bytes, in the CPU's byte order. */
PRESTORE_WRITER_PUT_(prestore_writer_put1, uint8_t)
PRESTORE_WRITER_PUT_(prestore_writer_put2, uint16_t)
PRESTORE_WRITER_PUT_(prestore_writer_put4, uint32_t)
PRESTORE_WRITER_PUT_(prestore_writer_put8, uint64_t)

#ifndef PRESTORE_INLINE
/*
 * PRESTORE_REGION_BEGIN and _END for an id known at run time only, and for other languages: a call more.
 * 0, or -1 if the id is not from 0 to 4095. Only in the library.
 */
PRESTORE_API int prestore_region_begin(int id);
PRESTORE_API int prestore_region_end(int id);
#endif

#ifdef PRESTORE_INLINE
#include "prestore_inline.h"
#endif

#ifdef __cplusplus
}
#endif

#endif
