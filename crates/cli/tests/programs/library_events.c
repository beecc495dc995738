/* Uses every operation of prestore.h at many alignments and sizes, and prints each use before it happens. */
#include "prestore.h"

#include <stdio.h>

static unsigned char target[4096] __attribute__((aligned(4096))), source[4096];

static void say(const char *what, const void *at, size_t size)
{
    printf("%s %lu %lu\n", what, (unsigned long)(uintptr_t)at, (unsigned long)size);
}

static void write_pieces(unsigned char *at, size_t size)
{
    prestore_writer_t writer;

    say("skip", at, size);
    prestore_writer_open(&writer, at);
    for (size_t i = 0; i < size; i++)
        prestore_writer_put1(&writer, (uint8_t)i);
    prestore_writer_close(&writer);
}

int main(void)
{
    static const size_t offsets[] = { 0, 1, 8, 31, 63, 64, 100 };
    static const size_t sizes[] = { 0, 1, 2, 63, 64, 65, 127, 128, 129, 200, 1024 };
    static volatile prestore_op clean = PRESTORE_CLEAN;

    for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            unsigned char *at = target + offsets[o];
            size_t size = sizes[s];

            say("clean", at, size);
            prestore(at, size, PRESTORE_CLEAN);
            say("demote", at, size);
            prestore(at, size, PRESTORE_DEMOTE);
            /* An operation that the compiler does not know goes another way. */
            say("clean", at, size);
            prestore(at, size, clean);
            say("skip", at, size);
            prestore_copy_skip(at, source + 3, size);
            say("skip", at, size);
            prestore_fill_skip(at, 7, size);
            write_pieces(at, size);
            say("fence", at, size);
            prestore_fence();
        }
    return 0;
}
