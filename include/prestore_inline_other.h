/* The part of prestore_inline.h for architectures without known instructions: pre-stores do nothing and say so. */
#ifndef PRESTORE_INLINE_OTHER_H
#define PRESTORE_INLINE_OTHER_H

#ifndef PRESTORE_LINE_SIZE
#define PRESTORE_LINE_SIZE 64
#define PRESTORE_LINE_SOURCE_ "assumed"
#else
#define PRESTORE_LINE_SOURCE_ "PRESTORE_LINE_SIZE"
#endif

static inline __attribute__((unused)) size_t prestore_line_size_(void)
{
    return PRESTORE_LINE_SIZE;
}

#define PRESTORE_CLEAN_LINE_(line) ((void)(line))
#define PRESTORE_CLEAN_NAME_ "none"
#define PRESTORE_CLEAN_REASON_ "no instruction is known for this architecture"
#define PRESTORE_CLEAN_ACTIVE_ 0
#define PRESTORE_CLEAN_RETAINS_ 1
#define PRESTORE_DEMOTE_LINE_(line) ((void)(line))
#define PRESTORE_DEMOTE_NAME_ "none"
#define PRESTORE_DEMOTE_REASON_ "no instruction is known for this architecture"
#define PRESTORE_DEMOTE_ACTIVE_ 0
#define PRESTORE_SKIP_NAME_ "plain stores"
#define PRESTORE_SKIP_REASON_ "no non-temporal stores are known for this architecture"
#define PRESTORE_SKIP_ACTIVE_ 0
#define PRESTORE_SKIP_RETAINS_ 1

static inline __attribute__((unused)) void prestore_stream_unit_(void *to, const void *from)
{
    memcpy(to, from, PRESTORE_WRITER_LINE);
}

static inline __attribute__((unused)) void prestore_stream_byte_(void *to, int byte)
{
    memset(to, byte, PRESTORE_WRITER_LINE);
}

#define PRESTORE_FENCE_() __atomic_thread_fence(__ATOMIC_RELEASE)

#endif
