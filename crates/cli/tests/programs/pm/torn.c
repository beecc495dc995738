/* Only aligned 8 bytes survive together. */
#include "pm.h"

/* Line 0 says where the data is: in line 1 or, when it is not 0, in line 3. Changed where it is, it is torn. */
static line_t *
place(pool_t *pool, bool bad)
{
    return &pool->lines[bad ? 1 : 3];
}

static void
now(pool_t *pool, bool bad)
{
    WORD(0) = !bad;
    persist(&WORD(0));
}

CHECK(pair)
{
    line_t *line = place(pool, WORD(0) == 0);
    return line->at[0] == line->at[1];
}
#define pair_programs(name) { #name, name##_run, pair_check }

RUN(torn_sixteen_bytes)
{
    line_t *line = place(pool, bad);
    _mm_store_si128((__m128i *)line, _mm_set1_epi64x(7)); /* ordering: torn_sixteen_bytes */
    persist(line);
    now(pool, bad);
}

RUN(torn_around_caches)
{
    line_t *line = place(pool, bad);
    _mm_stream_si128((__m128i *)line, _mm_set1_epi64x(7)); /* ordering: torn_around_caches */
    fence();
    now(pool, bad);
}

#define VALUE 0x1122334455667788

static bool
is_whole(const char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return value == 0 || value == VALUE;
}

CHECK(unaligned)
{
    return is_whole((char *)place(pool, WORD(0) == 0) + 4);
}

RUN(torn_unaligned)
{
    char *to = (char *)place(pool, bad) + 4;
    __asm__ volatile("movq %1, %0" : "=m"(*(uint64_t *)to) : "r"((uint64_t)VALUE)); /* ordering: torn_unaligned */
    persist(to);
    now(pool, bad);
}

CHECK(across_lines)
{
    return is_whole((char *)place(pool, WORD(0) == 0) + 60);
}

RUN(torn_across_lines)
{
    char *to = (char *)place(pool, bad) + 60;
    __asm__ volatile("movq %1, %0" : "=m"(*(uint64_t *)to) : "r"((uint64_t)VALUE)); /* ordering: torn_across_lines */
    flush(to);
    flush(to + 4);
    fence();
    now(pool, bad);
}

CHECK(copied)
{
    line_t *line = place(pool, WORD(0) == 0);
    for (int i = 1; i < 8; i++) {
        if (line->at[i] != line->at[0])
            return false;
    }
    return true;
}

RUN(torn_string_instruction)
{
    uint64_t from[8] = { 5, 5, 5, 5, 5, 5, 5, 5 }, bytes = sizeof(from);
    void *to = place(pool, bad), *source = from;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(source), "+c"(bytes) : : "memory"); /* ordering: torn_string_instruction */
    persist(place(pool, bad));
    now(pool, bad);
}

/* Counted before and behind a change: equal where nothing is torn. */
CHECK(counted)
{
    return WORD(1) != WORD(3) || pool->lines[2].at[0] == pool->lines[2].at[7];
}

RUN(torn_counter_behind)
{
    WORD(1) = 1;
    persist(&WORD(1));
    pool->lines[2].at[0] = 4;
    pool->lines[2].at[7] = 4; /* ordering: torn_counter_behind */
    if (!bad)
        persist(&WORD(2));
    WORD(3) = 1;
    persist(&WORD(3));
    if (bad)
        persist(&WORD(2));
}

const program_t torn_programs[] = {
    pair_programs(torn_sixteen_bytes),
    pair_programs(torn_around_caches),
    { "torn_unaligned", torn_unaligned_run, unaligned_check },
    { "torn_across_lines", torn_across_lines_run, across_lines_check },
    { "torn_string_instruction", torn_string_instruction_run, copied_check },
    { "torn_counter_behind", torn_counter_behind_run, counted_check },
    { 0 },
};
