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

static int wrong(const char *at, size_t size, prestore_op op)
{
    uintptr_t step = PRESTORE_LINE_SIZE, next = 0;
    size_t lines = 0;

    touches = 0;
    prestore(at, size, op);
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

int main(void)
{
    const char *base = (const char *)(uintptr_t)0x10000;

    for (size_t offset = 0; offset < PRESTORE_LINE_SIZE; offset++)
        for (size_t size = 0; size <= 1024; size++)
            if (wrong(base + offset, size, PRESTORE_CLEAN) || wrong(base + offset, size, PRESTORE_DEMOTE)) {
                fprintf(stderr, "offset %lu, size %lu\n", (unsigned long)offset, (unsigned long)size);
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
