/*
 * The AArch64 part of prestore_inline.h. The instructions are part of every AArch64 CPU; operating systems must let
 * programs use them, as Linux does.
 */
#ifndef PRESTORE_INLINE_AARCH64_H
#define PRESTORE_INLINE_AARCH64_H

#if defined(__linux__)
#define PRESTORE_ALLOWED_ 1
#else
#define PRESTORE_ALLOWED_ 0
#endif

#if defined(PRESTORE_LINE_SIZE)
#define PRESTORE_LINE_SOURCE_ "PRESTORE_LINE_SIZE"
#elif PRESTORE_ALLOWED_
#define PRESTORE_LINE_SOURCE_ "CTR_EL0.DminLine"
#else
#define PRESTORE_LINE_SIZE 64
#define PRESTORE_LINE_SOURCE_ "assumed"
#endif

#if PRESTORE_ALLOWED_
static inline __attribute__((unused)) uint64_t prestore_ctr_(void)
{
    /* Kept, as some kernels emulate the read. A race stores the same value twice. */
    static uint64_t known;
    uint64_t ctr = __atomic_load_n(&known, __ATOMIC_RELAXED);

    if (ctr == 0) {
        __asm__("mrs %0, ctr_el0" : "=r"(ctr));
        __atomic_store_n(&known, ctr, __ATOMIC_RELAXED);
    }
    return ctr;
}
#endif

static inline __attribute__((unused)) size_t prestore_line_size_(void)
{
#ifdef PRESTORE_LINE_SIZE
    return PRESTORE_LINE_SIZE;
#else
    /* The field is the logarithm of the number of 4-byte words. */
    return (size_t)4 << (prestore_ctr_() >> 16 & 15);
#endif
}

#if defined(PRESTORE_CLEAN_LINE_)
#define PRESTORE_CLEAN_NAME_ "PRESTORE_CLEAN_LINE_"
#define PRESTORE_CLEAN_REASON_ "replaced when compiling"
#define PRESTORE_CLEAN_ACTIVE_ 1
#elif PRESTORE_ALLOWED_
#define PRESTORE_CLEAN_LINE_(line) __asm__ __volatile__("dc cvac, %0" : : "r"(line) : "memory")
#define PRESTORE_CLEAN_NAME_ "dc cvac"
#define PRESTORE_CLEAN_REASON_ "part of AArch64, allowed by Linux"
#define PRESTORE_CLEAN_ACTIVE_ 1
#else
#define PRESTORE_CLEAN_LINE_(line) ((void)(line))
#define PRESTORE_CLEAN_NAME_ "none"
#define PRESTORE_CLEAN_REASON_ "this operating system is not known to allow programs the instruction"
#define PRESTORE_CLEAN_ACTIVE_ 0
#endif
#define PRESTORE_CLEAN_RETAINS_ 1

#if defined(PRESTORE_DEMOTE_LINE_)
#define PRESTORE_DEMOTE_NAME_ "PRESTORE_DEMOTE_LINE_"
#define PRESTORE_DEMOTE_REASON_ "replaced when compiling"
#define PRESTORE_DEMOTE_ACTIVE_ 1
#elif PRESTORE_ALLOWED_
#define PRESTORE_DEMOTE_LINE_(line) __asm__ __volatile__("dc cvau, %0" : : "r"(line) : "memory")
#define PRESTORE_DEMOTE_NAME_ "dc cvau"
#define PRESTORE_DEMOTE_REASON_                                                                         \
    (prestore_ctr_() >> 28 & 1                                                                          \
         ? "part of AArch64, allowed by Linux, but CTR_EL0.IDC is 1: this CPU may execute it as a NOP"  \
         : "part of AArch64, allowed by Linux")
#define PRESTORE_DEMOTE_ACTIVE_ 1
#else
#define PRESTORE_DEMOTE_LINE_(line) ((void)(line))
#define PRESTORE_DEMOTE_NAME_ "none"
#define PRESTORE_DEMOTE_REASON_ "this operating system is not known to allow programs the instruction"
#define PRESTORE_DEMOTE_ACTIVE_ 0
#endif

#define PRESTORE_SKIP_NAME_ "stnp"
#define PRESTORE_SKIP_REASON_ "part of AArch64; a hint that the CPU may ignore"
#define PRESTORE_SKIP_ACTIVE_ 1
#define PRESTORE_SKIP_RETAINS_ 2

/* Writes 64 bytes: loads first, then stores in ascending order. */
static inline __attribute__((unused)) void prestore_stream_unit_(void *to, const void *from)
{
    __asm__ __volatile__("ldp q0, q1, [%1]\n\t"
                         "ldp q2, q3, [%1, #32]\n\t"
                         "stnp q0, q1, [%0]\n\t"
                         "stnp q2, q3, [%0, #32]"
                         :
                         : "r"(to), "r"(from)
                         : "v0", "v1", "v2", "v3", "memory");
}

/* Writes a byte to 64, from a register. */
static inline __attribute__((unused)) void prestore_stream_byte_(void *to, int byte)
{
    uint64_t word = (unsigned char)byte * 0x0101010101010101u;
    __asm__ __volatile__("stnp %1, %1, [%0]\n\t"
                         "stnp %1, %1, [%0, #16]\n\t"
                         "stnp %1, %1, [%0, #32]\n\t"
                         "stnp %1, %1, [%0, #48]"
                         :
                         : "r"(to), "r"(word)
                         : "memory");
}

#define PRESTORE_FENCE_() __asm__ __volatile__("dmb ishst" : : : "memory")

#endif
