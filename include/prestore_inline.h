/*
 * The header-only mode of prestore.h, which includes this file where PRESTORE_INLINE is defined.
 *
 * Instructions are fixed when compiling; the environment is not read. Further macros, to be defined before:
 *
 *   PRESTORE_LINE_SIZE                   bytes a cache line, if known (default: 64 on x86-64, read from CTR_EL0 on
 *                                        AArch64)
 *   PRESTORE_CLEAN_FALLBACK_INVALIDATE   without -mclwb, clean with clflushopt or clflush, which drop the line
 *   PRESTORE_CLEAN_LINE_(line),          what is done to a line; a test may count instead
 *   PRESTORE_DEMOTE_LINE_(line)
 */
#ifndef PRESTORE_INLINE_H
#define PRESTORE_INLINE_H

#include "prestore_lines.h"

/* The architecture's part defines the names, reasons and instructions used below. */
#if defined(__x86_64__)
#include "prestore_inline_x86_64.h"
#elif defined(__aarch64__)
#include "prestore_inline_aarch64.h"
#else
#include "prestore_inline_other.h"
#endif

PRESTORE_API void prestore(const void *addr, size_t size, prestore_op op)
{
    if (size == 0)
        return;
    if (op == PRESTORE_CLEAN) {
        if (PRESTORE_CLEAN_ACTIVE_)
            PRESTORE_EACH_LINE_(addr, size, prestore_line_size_(), PRESTORE_CLEAN_LINE_);
    } else if (op == PRESTORE_DEMOTE) {
        if (PRESTORE_DEMOTE_ACTIVE_)
            PRESTORE_EACH_LINE_(addr, size, prestore_line_size_(), PRESTORE_DEMOTE_LINE_);
    }
}

/* Bytes before the first whole unit of a destination. */
static inline __attribute__((unused)) size_t prestore_head_(const void *dst, size_t n)
{
    size_t head = (size_t)(-(uintptr_t)dst & (PRESTORE_WRITER_LINE - 1));
    return head < n ? head : n;
}

PRESTORE_API void *prestore_copy_skip(void *dst, const void *src, size_t n)
{
    unsigned char *to = (unsigned char *)dst;
    const unsigned char *from = (const unsigned char *)src;
    size_t head = prestore_head_(to, n);
    size_t body = (n - head) & ~(size_t)(PRESTORE_WRITER_LINE - 1);
    size_t i;

    if (n == 0)
        return dst;
    memcpy(to, from, head);
    for (i = head; i < head + body; i += PRESTORE_WRITER_LINE)
        prestore_stream_unit_(to + i, from + i);
    memcpy(to + i, from + i, n - i);
    return dst;
}

PRESTORE_API void *prestore_fill_skip(void *dst, int byte, size_t n)
{
    unsigned char *to = (unsigned char *)dst;
    size_t head = prestore_head_(to, n);
    size_t body = (n - head) & ~(size_t)(PRESTORE_WRITER_LINE - 1);
    size_t i;

    if (n == 0)
        return dst;
    memset(to, byte, head);
    for (i = head; i < head + body; i += PRESTORE_WRITER_LINE)
        prestore_stream_byte_(to + i, byte);
    memset(to + i, byte, n - i);
    return dst;
}

PRESTORE_API void prestore_fence(void)
{
    PRESTORE_FENCE_();
}

PRESTORE_API int prestore_query(prestore_op op, prestore_info *info)
{
    info->warning = NULL;
    info->line_source = PRESTORE_LINE_SOURCE_;
    info->line_size = prestore_line_size_();
    switch (op) {
    case PRESTORE_DEMOTE:
        info->instruction = PRESTORE_DEMOTE_NAME_;
        info->reason = PRESTORE_DEMOTE_REASON_;
        info->active = PRESTORE_DEMOTE_ACTIVE_;
        info->retains = 1;
        return 0;
    case PRESTORE_CLEAN:
        info->instruction = PRESTORE_CLEAN_NAME_;
        info->reason = PRESTORE_CLEAN_REASON_;
        info->active = PRESTORE_CLEAN_ACTIVE_;
        info->retains = PRESTORE_CLEAN_RETAINS_;
        return 0;
    case PRESTORE_SKIP:
        info->instruction = PRESTORE_SKIP_NAME_;
        info->reason = PRESTORE_SKIP_REASON_;
        info->active = PRESTORE_SKIP_ACTIVE_;
        info->retains = PRESTORE_SKIP_RETAINS_;
        return 0;
    }
    return -1;
}

PRESTORE_API const char *prestore_chosen(prestore_op op)
{
    prestore_info info;
    return prestore_query(op, &info) == 0 ? info.instruction : NULL;
}

PRESTORE_API void prestore_writer_open(prestore_writer_t *writer, void *dst)
{
    uint32_t begin = (uint32_t)((uintptr_t)dst & (PRESTORE_WRITER_LINE - 1));
    writer->line = (unsigned char *)((uintptr_t)dst - begin);
    writer->begin = begin;
    writer->next = begin;
    writer->held = 0;
}

/* Writes the collected bytes of an incomplete line, up to `end` in it. */
static inline __attribute__((unused)) void prestore_writer_part_(prestore_writer_t *writer, uint32_t end)
{
    uint32_t half = writer->next & PRESTORE_WRITER_LINE;
    memcpy(writer->line + writer->begin, writer->stage + half + writer->begin, end - writer->begin);
}

/*
 * The complete line before the one that is collected goes. Only now: a load of a whole line cannot be forwarded from
 * the narrower stores to the stage and would wait for them, and they for the line before, one after the other.
 */
static inline __attribute__((unused)) void prestore_writer_held_(prestore_writer_t *writer)
{
    uint32_t other = (writer->next & PRESTORE_WRITER_LINE) ^ PRESTORE_WRITER_LINE;

    if (writer->held)
        prestore_stream_unit_(writer->line - PRESTORE_WRITER_LINE, writer->stage + other);
    writer->held = 0;
}

PRESTORE_API void prestore_writer_put(prestore_writer_t *writer, const void *bytes, size_t n)
{
    const unsigned char *from = (const unsigned char *)bytes;

    while (n > 0) {
        uint32_t offset = writer->next % PRESTORE_WRITER_LINE;
        size_t room = PRESTORE_WRITER_LINE - offset;
        size_t taken = n < room ? n : room;

        memcpy(writer->stage + writer->next, from, taken);
        from += taken;
        n -= taken;
        if (taken < room) {
            writer->next += (uint32_t)taken;
            continue;
        }
        prestore_writer_held_(writer);
        if (writer->begin == 0)
            writer->held = 1;
        else
            prestore_writer_part_(writer, PRESTORE_WRITER_LINE);
        writer->line += PRESTORE_WRITER_LINE;
        writer->begin = 0;
        writer->next = (writer->next & PRESTORE_WRITER_LINE) ^ PRESTORE_WRITER_LINE;
    }
}

PRESTORE_API void *prestore_writer_close(prestore_writer_t *writer)
{
    uint32_t offset = writer->next % PRESTORE_WRITER_LINE;

    prestore_writer_held_(writer);
    prestore_writer_part_(writer, offset);
    writer->begin = offset;
    return writer->line + offset;
}

#endif
