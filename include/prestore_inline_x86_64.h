/* The x86-64 part of prestore_inline.h. */
#ifndef PRESTORE_INLINE_X86_64_H
#define PRESTORE_INLINE_X86_64_H

#include <immintrin.h>

#ifdef PRESTORE_LINE_SIZE
#define PRESTORE_LINE_SOURCE_ "PRESTORE_LINE_SIZE"
#else
#define PRESTORE_LINE_SIZE 64
#define PRESTORE_LINE_SOURCE_ "fixed when compiling: that of every x86-64 CPU so far"
#endif

static inline __attribute__((unused)) size_t prestore_line_size_(void)
{
    return PRESTORE_LINE_SIZE;
}

#define PRESTORE_ON_LINE_(text, line) __asm__ __volatile__(text " (%0)" : : "r"(line) : "memory")

#if defined(PRESTORE_CLEAN_LINE_)
#define PRESTORE_CLEAN_NAME_ "PRESTORE_CLEAN_LINE_"
#define PRESTORE_CLEAN_REASON_ "replaced when compiling"
#define PRESTORE_CLEAN_ACTIVE_ 1
#define PRESTORE_CLEAN_RETAINS_ 2
#elif defined(__CLWB__)
#define PRESTORE_CLEAN_LINE_(line) PRESTORE_ON_LINE_("clwb", line)
#define PRESTORE_CLEAN_NAME_ "clwb"
#define PRESTORE_CLEAN_REASON_ "fixed when compiling, with -mclwb"
#define PRESTORE_CLEAN_ACTIVE_ 1
#define PRESTORE_CLEAN_RETAINS_ 2
#elif defined(PRESTORE_CLEAN_FALLBACK_INVALIDATE) && defined(__CLFLUSHOPT__)
#define PRESTORE_CLEAN_LINE_(line) PRESTORE_ON_LINE_("clflushopt", line)
#define PRESTORE_CLEAN_NAME_ "clflushopt"
#define PRESTORE_CLEAN_REASON_ "compiled without -mclwb, with PRESTORE_CLEAN_FALLBACK_INVALIDATE and -mclflushopt"
#define PRESTORE_CLEAN_ACTIVE_ 1
#define PRESTORE_CLEAN_RETAINS_ 0
#elif defined(PRESTORE_CLEAN_FALLBACK_INVALIDATE)
#define PRESTORE_CLEAN_LINE_(line) PRESTORE_ON_LINE_("clflush", line)
#define PRESTORE_CLEAN_NAME_ "clflush"
#define PRESTORE_CLEAN_REASON_ "compiled without -mclwb and -mclflushopt, with PRESTORE_CLEAN_FALLBACK_INVALIDATE"
#define PRESTORE_CLEAN_ACTIVE_ 1
#define PRESTORE_CLEAN_RETAINS_ 0
#else
#define PRESTORE_CLEAN_LINE_(line) ((void)(line))
#define PRESTORE_CLEAN_NAME_ "none"
#define PRESTORE_CLEAN_REASON_ "compiled without -mclwb; other instructions would drop the line from the caches"
#define PRESTORE_CLEAN_ACTIVE_ 0
#define PRESTORE_CLEAN_RETAINS_ 1
#endif

#if defined(PRESTORE_DEMOTE_LINE_)
#define PRESTORE_DEMOTE_NAME_ "PRESTORE_DEMOTE_LINE_"
#define PRESTORE_DEMOTE_REASON_ "replaced when compiling"
#define PRESTORE_DEMOTE_ACTIVE_ 1
#elif defined(__CLDEMOTE__)
#define PRESTORE_DEMOTE_LINE_(line) PRESTORE_ON_LINE_("cldemote", line)
#define PRESTORE_DEMOTE_NAME_ "cldemote"
#define PRESTORE_DEMOTE_REASON_ "fixed when compiling, with -mcldemote; a NOP on CPUs without it"
#define PRESTORE_DEMOTE_ACTIVE_ 1
#else
#define PRESTORE_DEMOTE_LINE_(line) ((void)(line))
#define PRESTORE_DEMOTE_NAME_ "none"
#define PRESTORE_DEMOTE_REASON_ "compiled without -mcldemote"
#define PRESTORE_DEMOTE_ACTIVE_ 0
#endif

#define PRESTORE_SKIP_ACTIVE_ 1
#define PRESTORE_SKIP_RETAINS_ 0

/* Writes 64 bytes to an aligned address: loads first, then stores. */
static inline __attribute__((unused)) void prestore_stream_unit_(void *to, const void *from)
{
#if defined(__AVX512F__)
#define PRESTORE_SKIP_NAME_ "movnt avx512"
#define PRESTORE_SKIP_REASON_ "fixed when compiling, with -mavx512f"
    _mm512_stream_si512((__m512i *)to, _mm512_loadu_si512(from));
#elif defined(__AVX__)
#define PRESTORE_SKIP_NAME_ "movnt avx"
#define PRESTORE_SKIP_REASON_ "fixed when compiling, with -mavx"
    const __m256i *in = (const __m256i *)from;
    __m256i *out = (__m256i *)to;
    __m256i a = _mm256_loadu_si256(in), b = _mm256_loadu_si256(in + 1);
    _mm256_stream_si256(out, a);
    _mm256_stream_si256(out + 1, b);
#else
#define PRESTORE_SKIP_NAME_ "movnt sse2"
#define PRESTORE_SKIP_REASON_ "fixed when compiling: part of x86-64"
    const __m128i *in = (const __m128i *)from;
    __m128i *out = (__m128i *)to;
    __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
    __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
#endif
}

/*
 * Writes a byte to 64 at an aligned address. It comes in a register: a load of a pattern in memory would wait for the
 * narrower stores that have just made it.
 */
static inline __attribute__((unused)) void prestore_stream_byte_(void *to, int byte)
{
#if defined(__AVX512F__)
    _mm512_stream_si512((__m512i *)to, _mm512_set1_epi32((int)((unsigned char)byte * 0x01010101u)));
#elif defined(__AVX__)
    __m256i *out = (__m256i *)to, a = _mm256_set1_epi32((int)((unsigned char)byte * 0x01010101u));
    _mm256_stream_si256(out, a);
    _mm256_stream_si256(out + 1, a);
#else
    __m128i *out = (__m128i *)to, a = _mm_set1_epi32((int)((unsigned char)byte * 0x01010101u));
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, a);
    _mm_stream_si128(out + 2, a);
    _mm_stream_si128(out + 3, a);
#endif
}

#define PRESTORE_FENCE_() __asm__ __volatile__("sfence" : : : "memory")

#endif
