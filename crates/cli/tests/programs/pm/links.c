/* What leads to data must not survive without it. Line 0 leads to a line, by its number; 0: nowhere. */
#include "pm.h"

CHECK(list)
{
    uint64_t nodes = 0;
    for (uint64_t at = WORD(0); at != 0; at = pool->lines[at].at[1]) {
        if (at >= 64 || pool->lines[at].at[0] != at * 10 || ++nodes > 63)
            return false;
    }
    return true;
}
#define list_programs(name) { #name, name##_run, list_check }

RUN(list_node_missing_flush)
{
    for (uint64_t i = 1; i <= 3; i++) {
        pool->lines[i].at[0] = i * 10; /* missing-flush: list_node_missing_flush */
        pool->lines[i].at[1] = WORD(0);
        if (!bad)
            flush(&WORD(i));
        fence();
        WORD(0) = i;
        persist(&WORD(0));
    }
}

RUN(list_node_missing_fence)
{
    for (uint64_t i = 1; i <= 3; i++) {
        pool->lines[i].at[0] = i * 10; /* missing-fence: list_node_missing_fence */
        flush(&WORD(i));
        if (!bad)
            fence();
        WORD(0) = i;
        persist(&WORD(0));
    }
}

RUN(list_head_before_node)
{
    if (bad)
        WORD(0) = 1; /* ordering: list_head_before_node */
    WORD(1) = 10;
    persist(&WORD(1));
    if (!bad)
        WORD(0) = 1;
    persist(&WORD(0));
}

RUN(list_node_changed_in_place)
{
    WORD(1) = 10;
    persist(&WORD(1));
    WORD(0) = 1;
    persist(&WORD(0));
    if (bad) {
        WORD(1) = 20; /* ordering: list_node_changed_in_place */
        persist(&WORD(1));
        WORD(1) = 10;
        persist(&WORD(1));
    }
}

RUN(list_freed_while_linked)
{
    WORD(1) = 10;
    persist(&WORD(1));
    WORD(0) = 1;
    persist(&WORD(0));
    WORD(0) = 0; /* ordering: list_freed_while_linked */
    if (!bad)
        persist(&WORD(0));
    WORD(1) = 0;
    persist(&WORD(1));
    if (bad)
        persist(&WORD(0));
}

/* Two versions of a page of two lines, and which is valid. */
CHECK(version)
{
    uint64_t first = WORD(0) == 0 ? 2 : 4;
    return pool->lines[first].at[0] == pool->lines[first + 1].at[0];
}
#define version_programs(name) { #name, name##_run, version_check }

RUN(version_half_flushed)
{
    WORD(4) = 9;
    WORD(5) = 9; /* missing-flush: version_half_flushed */
    flush(&WORD(4));
    if (!bad)
        flush(&WORD(5));
    fence();
    WORD(0) = 1;
    persist(&WORD(0));
}

RUN(version_in_place)
{
    uint64_t to = bad ? 2 : 4;
    WORD(to) = 9; /* ordering: version_in_place */
    WORD(to + 1) = 9;
    flush(&WORD(to));
    flush(&WORD(to + 1));
    fence();
    WORD(0) = !bad;
    persist(&WORD(0));
}

RUN(version_switched_first)
{
    if (bad) {
        WORD(4) = 9;
        persist(&WORD(4));
        WORD(0) = 1; /* ordering: version_switched_first */
        persist(&WORD(0));
        WORD(5) = 9;
        persist(&WORD(5));
    } else {
        WORD(4) = 9;
        WORD(5) = 9;
        flush(&WORD(4));
        flush(&WORD(5));
        fence();
        WORD(0) = 1;
        persist(&WORD(0));
    }
}

/* A table: a key in the line's first word, its value in another line. */
CHECK(table)
{
    for (int i = 0; i < 8; i++) {
        if (pool->lines[8 + i].at[0] != 0 && pool->lines[16 + i].at[0] != pool->lines[8 + i].at[0] + 1)
            return false;
    }
    return true;
}
#define table_programs(name) { #name, name##_run, table_check }

RUN(table_key_before_value)
{
    if (bad)
        WORD(8) = 5; /* ordering: table_key_before_value */
    WORD(16) = 6;
    persist(&WORD(16));
    if (!bad)
        WORD(8) = 5;
    persist(&WORD(8));
}

RUN(table_value_of_other_line)
{
    WORD(16) = 6;
    persist(&WORD(16));
    WORD(8) = 5;
    persist(&WORD(8));
    WORD(17) = 8; /* missing-flush: table_value_of_other_line */
    persist(bad ? &WORD(16) : &WORD(17)); /* redundant-flush: table_value_of_other_line */
    WORD(9) = 7;
    persist(&WORD(9));
}

/* A map of what is used, and marks in what is. */
CHECK(bitmap)
{
    for (int i = 0; i < 8; i++) {
        if ((WORD(0) >> i & 1) != 0 && pool->lines[1 + i].at[3] != 0xabcd)
            return false;
    }
    return true;
}
#define bitmap_programs(name) { #name, name##_run, bitmap_check }

RUN(bitmap_before_object)
{
    pool->lines[3].at[3] = 0xabcd; /* ordering: bitmap_before_object */
    if (!bad)
        persist(&pool->lines[3].at[3]);
    WORD(0) |= 4;
    persist(&WORD(0));
    if (bad)
        persist(&pool->lines[3].at[3]);
}

RUN(bitmap_object_missing_flush)
{
    for (int i = 0; i < 3; i++) {
        pool->lines[1 + i].at[3] = 0xabcd; /* missing-flush: bitmap_object_missing_flush */
        if (!bad || i != 1)
            flush(&WORD(1 + i));
        fence();
        WORD(0) |= 1u << i;
        persist(&WORD(0));
    }
}

const program_t link_programs[] = {
    list_programs(list_node_missing_flush),
    list_programs(list_node_missing_fence),
    list_programs(list_head_before_node),
    list_programs(list_node_changed_in_place),
    list_programs(list_freed_while_linked),
    version_programs(version_half_flushed),
    version_programs(version_in_place),
    version_programs(version_switched_first),
    table_programs(table_key_before_value),
    table_programs(table_value_of_other_line),
    bitmap_programs(bitmap_before_object),
    bitmap_programs(bitmap_object_missing_flush),
    { 0 },
};
