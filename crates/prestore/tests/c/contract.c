/* The contract of prestore.h, in C99 and C++, library and inline: exits 0, prints the query a line an operation. */
#include "prestore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 2048, GUARD = 256 };

static unsigned char source[ROOM], target[ROOM] __attribute__((aligned(128))), wanted[ROOM];

static void check(int holds, const char *what, size_t at, size_t size)
{
    if (!holds) {
        fprintf(stderr, "%s fails at offset %lu, size %lu\n", what, (unsigned long)at, (unsigned long)size);
        exit(1);
    }
}

static void reset(void)
{
    memset(target, 0xee, sizeof target);
    memset(wanted, 0xee, sizeof wanted);
}

static void check_range(size_t at, size_t size)
{
    void *end = target + at;

    reset();
    memcpy(wanted + at, source + at % 7, size);
    check(prestore_copy_skip(end, source + at % 7, size) == end, "the copy's result", at, size);
    prestore_fence();
    check(memcmp(target, wanted, sizeof target) == 0, "copy", at, size);

    prestore(target + at, size, PRESTORE_CLEAN);
    prestore(target + at, size, PRESTORE_DEMOTE);
    prestore(target + at, size, PRESTORE_SKIP);
    check(memcmp(target, wanted, sizeof target) == 0, "pre-store", at, size);

    memset(wanted + at, 0x1a5, size);
    check(prestore_fill_skip(end, 0x1a5, size) == end, "the fill's result", at, size);
    check(memcmp(target, wanted, sizeof target) == 0, "fill", at, size);
}

/* Values of 1, 2, 4, 8 and many bytes, in turn. */
static void check_writer(size_t at, size_t size)
{
    prestore_writer_t writer;
    size_t done = 0, turn = at;

    reset();
    memcpy(wanted + at, source, size);
    prestore_writer_open(&writer, target + at);
    while (done < size) {
        size_t left = size - done;
        uint16_t two;
        uint32_t four;
        uint64_t eight;

        switch (turn++ % 5) {
        case 0:
            prestore_writer_put1(&writer, source[done]);
            done += 1;
            break;
        case 1:
            if (left < 2)
                break;
            memcpy(&two, source + done, 2);
            prestore_writer_put2(&writer, two);
            done += 2;
            break;
        case 2:
            if (left < 4)
                break;
            memcpy(&four, source + done, 4);
            prestore_writer_put4(&writer, four);
            done += 4;
            break;
        case 3:
            if (left < 8)
                break;
            memcpy(&eight, source + done, 8);
            prestore_writer_put8(&writer, eight);
            done += 8;
            break;
        default: {
            size_t many = left < 150 ? left : 150;
            prestore_writer_put(&writer, source + done, many);
            done += many;
        }
        }
    }
    check(prestore_writer_close(&writer) == target + at + size, "the writer's end", at, size);
    check(memcmp(target, wanted, sizeof target) == 0, "writer", at, size);
    /* Closing twice writes nothing again. */
    memset(target + at, 0x11, size);
    memset(wanted + at, 0x11, size);
    prestore_writer_close(&writer);
    check(memcmp(target, wanted, sizeof target) == 0, "second close", at, size);
}

static void print_query(prestore_op op)
{
    prestore_info info;

    check(prestore_query(op, &info) == 0, "query", op, 0);
    check(strcmp(info.instruction, prestore_chosen(op)) == 0, "chosen", op, 0);
    check(info.reason[0] != 0 && info.line_source[0] != 0, "an explanation", op, 0);
    check(info.line_size >= 16 && (info.line_size & (info.line_size - 1)) == 0, "line size", op, info.line_size);
    printf("%s|%s|%s|%d|%d|%lu\n", info.instruction, info.reason, info.warning ? info.warning : "", info.active,
           info.retains, (unsigned long)info.line_size);
}

int main(void)
{
    prestore_info info;

    PRESTORE_REGION_BEGIN(3);
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (unsigned char)(i * 37 + 11);

    prestore(NULL, 0, PRESTORE_CLEAN);
    prestore(NULL, 0, PRESTORE_DEMOTE);
    prestore_copy_skip(NULL, NULL, 0);
    prestore_fill_skip(NULL, 0, 0);
    for (size_t at = GUARD; at < GUARD + 128; at++)
        for (size_t size = 0; size <= 1024; size += size < 300 ? 1 : 61) {
            check_range(at, size);
            check_writer(at, size);
        }
    PRESTORE_REGION_END(3);

    print_query(PRESTORE_DEMOTE);
    print_query(PRESTORE_CLEAN);
    print_query(PRESTORE_SKIP);
    check(prestore_query((prestore_op)3, &info) == -1, "an unknown operation", 3, 0);
    check(prestore_chosen((prestore_op)3) == NULL, "an unknown operation's name", 3, 0);
    return 0;
}
