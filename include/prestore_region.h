/*
 * Source regions for the Prestore tracer: C99 or C++, header only, no library.
 *
 *     PRESTORE_REGION_BEGIN(1);
 *     ... the phase of interest ...
 *     PRESTORE_REGION_END(1);
 *
 * The id is an integer constant from 0 to 4095. Regions belong to the thread that executes the marker.
 *
 * A marker is an instruction that does nothing and that no compiler emits, so an untraced program pays one
 * NOP. It is also a compiler barrier for memory accesses, so that none moves into or out of the region.
 *
 *   x86-64   nopl disp32(%rax), bytes 0f 1f 80 <disp32>. The address is never formed, nothing is accessed.
 *            disp32 = 0x50530000 | op << 12 | id       (0x5053 is "PS"; op is 1 to begin, 2 to end)
 *   AArch64  movz xzr, #0x5053 ; movz xzr, #(op << 12 | id)
 *            Writes to the zero register are discarded.
 *   others   a compiler barrier only: the program builds and runs, its regions are not seen.
 */
#ifndef PRESTORE_REGION_H
#define PRESTORE_REGION_H

#define PRESTORE_REGION_MAGIC 0x5053
#define PRESTORE_REGION_OP_BEGIN 1
#define PRESTORE_REGION_OP_END 2

#if defined(__x86_64__)
#define PRESTORE_REGION_EMIT_(op, id)                                                                   \
    __asm__ __volatile__(".byte 0x0f, 0x1f, 0x80\n\t.long %c0"                                           \
                         : : "i"((PRESTORE_REGION_MAGIC << 16) | ((op) << 12) | (id)) : "memory")
#elif defined(__aarch64__)
#define PRESTORE_REGION_EMIT_(op, id)                                                                   \
    __asm__ __volatile__("movz xzr, #%c0\n\tmovz xzr, #%c1"                                              \
                         : : "i"(PRESTORE_REGION_MAGIC), "i"(((op) << 12) | (id)) : "memory")
#else
#define PRESTORE_REGION_EMIT_(op, id) __asm__ __volatile__("" : : : "memory")
#endif

/* A negative array size stops the compilation of an id that would spill into the op's bits. */
#define PRESTORE_REGION_CHECK_(id) ((void)sizeof(char[((id) >= 0 && (id) <= 4095) ? 1 : -1]))

/* Opens region `id` in this thread. */
#define PRESTORE_REGION_BEGIN(id)                                                                       \
    do {                                                                                                \
        PRESTORE_REGION_CHECK_(id);                                                                     \
        PRESTORE_REGION_EMIT_(PRESTORE_REGION_OP_BEGIN, id);                                            \
    } while (0)

/* Closes region `id` in this thread. */
#define PRESTORE_REGION_END(id)                                                                         \
    do {                                                                                                \
        PRESTORE_REGION_CHECK_(id);                                                                     \
        PRESTORE_REGION_EMIT_(PRESTORE_REGION_OP_END, id);                                              \
    } while (0)

#endif
