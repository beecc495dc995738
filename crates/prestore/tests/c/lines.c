/* The inline mode with counting mocks: exactly the lines of the range, each once, in order. PRESTORE_LINE_SIZE is set. */
#include <stddef.h>

static void count(const char *line);
#define PRESTORE_CLEAN_LINE_(line) count(line)
#define PRESTORE_DEMOTE_LINE_(line) count(line)
#define PRESTORE_INLINE
#include "prestore.h"

#include <stdio.h>

static const char *touched[64];
static size_t touches;

static void count(const char *line)
{
    if (touches < sizeof touched / sizeof *touched)
        touched[touches] = line;
    touches++;
}

/* Compares what was touched since touches was 0. */
static int wrongly_touched(const char *at, size_t size)
{
    uintptr_t step = PRESTORE_LINE_SIZE, next = 0;
    size_t lines = 0;

    /* Byte by byte, as slow and plain as can be. */
    for (size_t i = 0; i < size; i++) {
        uintptr_t line = ((uintptr_t)at + i) / step * step;
        if (i == 0 || line != next) {
            if (lines >= touches || (uintptr_t)touched[lines] != line)
                return 1;
            lines++;
            next = line;
        }
    }
    return lines != touches;
}

static int wrong(const char *at, size_t size, prestore_op op)
{
    touches = 0;
    prestore(at, size, op);
    return wrongly_touched(at, size);
}

/* Sizes that the compiler knows, and an alignment, take ways of their own. */
#define WRONG_CONSTANT(at, size) (touches = 0, prestore(at, size, PRESTORE_CLEAN), wrongly_touched(at, size))

static int wrong_constant(const char *at)
{
    return WRONG_CONSTANT(at, 0) || WRONG_CONSTANT(at, 1) || WRONG_CONSTANT(at, 63) || WRONG_CONSTANT(at, 64) ||
           WRONG_CONSTANT(at, 65) || WRONG_CONSTANT(at, 128) || WRONG_CONSTANT(at, 129) || WRONG_CONSTANT(at, 1000);
}

static int wrong_aligned(const char *at)
{
    const char *line = (const char *)__builtin_assume_aligned(at, PRESTORE_LINE_SIZE);
    return wrong_constant(line) || WRONG_CONSTANT(line + 1, 63) || WRONG_CONSTANT(line + 1, 64) ||
           WRONG_CONSTANT(line + 33, 32) || WRONG_CONSTANT(line + 33, 100);
}

int main(void)
{
    const char *base = (const char *)(uintptr_t)0x10000;

    for (size_t offset = 0; offset < PRESTORE_LINE_SIZE; offset++)
        for (size_t size = 0; size <= 1024; size++)
            if (wrong(base + offset, size, PRESTORE_CLEAN) || wrong(base + offset, size, PRESTORE_DEMOTE)) {
                fprintf(stderr, "offset %lu, size %lu\n", (unsigned long)offset, (unsigned long)size);
                return 1;
            }
    for (size_t offset = 0; offset < PRESTORE_LINE_SIZE; offset++)
        if (wrong_constant(base + offset)) {
            fprintf(stderr, "a constant size at offset %lu\n", (unsigned long)offset);
            return 1;
        }
    for (size_t line = 0; line < 4; line++)
        if (wrong_aligned(base + line * PRESTORE_LINE_SIZE)) {
            fprintf(stderr, "a known alignment, line %lu\n", (unsigned long)line);
            return 1;
        }
    touches = 0;
    prestore((const char *)(UINTPTR_MAX - 10), SIZE_MAX, PRESTORE_CLEAN);
    if (touches != 1) {
        fprintf(stderr, "the end of the address space: %lu lines\n", (unsigned long)touches);
        return 1;
    }
    return 0;
}
