/* Data, and a flag that says that it is there. */
#include "pm.h"

CHECK(valid)
{
    return WORD(0) == 0 || WORD(1) == 7;
}
#define valid_programs(name) { #name, name##_run, valid_check }

RUN(flag_missing_flush)
{
    WORD(1) = 7; /* missing-flush: flag_missing_flush */
    if (!bad)
        flush(&WORD(1));
    fence();
    WORD(0) = 1;
    persist(&WORD(0));
}

RUN(flag_missing_fence)
{
    WORD(1) = 7; /* missing-fence: flag_missing_fence */
    flush(&WORD(1));
    if (!bad)
        fence();
    WORD(0) = 1;
    persist(&WORD(0));
}

RUN(flag_before_payload)
{
    if (bad) {
        WORD(0) = 1; /* ordering: flag_before_payload */
        persist(&WORD(0));
    }
    WORD(1) = 7;
    persist(&WORD(1));
    if (!bad) {
        WORD(0) = 1;
        persist(&WORD(0));
    }
}

RUN(flag_one_fence_for_both)
{
    WORD(1) = 7; /* ordering: flag_one_fence_for_both */
    if (!bad)
        persist(&WORD(1));
    WORD(0) = 1;
    if (bad)
        flush(&WORD(1));
    persist(&WORD(0));
}

RUN(flag_wrong_line)
{
    WORD(2) = 3;
    persist(&WORD(2));
    WORD(1) = 7; /* missing-flush: flag_wrong_line */
    persist(bad ? &WORD(0) : &WORD(1)); /* redundant-flush: flag_wrong_line */
    WORD(0) = 1;
    persist(&WORD(0));
}

RUN(flag_flushed_before_store)
{
    if (bad)
        flush(&WORD(1)); /* redundant-flush: flag_flushed_before_store */
    WORD(1) = 7; /* ordering: flag_flushed_before_store */
    if (!bad)
        flush(&WORD(1));
    fence();
    WORD(0) = 1;
    persist(&WORD(0));
}

RUN(flag_written_after_flush)
{
    WORD(1) = 6;
    flush(&WORD(1));
    if (!bad)
        fence();
    WORD(1) = 7; /* ordering: flag_written_after_flush */
    if (!bad)
        flush(&WORD(1));
    fence();
    WORD(0) = 1;
    persist(&WORD(0));
}

RUN(flag_around_caches)
{
    _mm_stream_si64((long long *)&WORD(1), 7); /* missing-fence: flag_around_caches */
    if (!bad)
        fence();
    WORD(0) = 1;
    _mm_clflush((void *)&WORD(0));
    fence();
}

RUN(flag_around_caches_before_payload)
{
    WORD(1) = 7; /* missing-fence: flag_around_caches_before_payload */
    flush(&WORD(1));
    if (!bad)
        fence();
    _mm_stream_si64((long long *)&WORD(0), 1);
    fence();
}

RUN(flag_flushed_behind_it)
{
    WORD(1) = 7; /* ordering: flag_flushed_behind_it */
    if (!bad)
        persist(&WORD(1));
    WORD(0) = 1;
    persist(&WORD(0));
    if (bad)
        persist(&WORD(1));
}

RUN(flag_clflush)
{
    WORD(1) = 7; /* missing-flush: flag_clflush */
    if (!bad)
        _mm_clflush((void *)&WORD(1));
    WORD(0) = 1;
    _mm_clflush((void *)&WORD(0));
}

CHECK(two_payloads)
{
    return WORD(0) == 0 || (WORD(1) == 7 && WORD(2) == 8);
}

RUN(flag_second_payload)
{
    WORD(1) = 7;
    WORD(2) = 8; /* missing-flush: flag_second_payload */
    flush(&WORD(1));
    if (!bad)
        flush(&WORD(2));
    fence();
    WORD(0) = 1;
    persist(&WORD(0));
}

RUN(flag_first_payload)
{
    WORD(1) = 7; /* missing-flush: flag_first_payload */
    WORD(2) = 8;
    if (!bad)
        flush(&WORD(1));
    flush(&WORD(2));
    fence();
    WORD(0) = 1;
    persist(&WORD(0));
}

CHECK(array)
{
    for (int i = 1; i <= 8; i++) {
        if (WORD(0) != 0 && WORD(i) != (uint64_t)i)
            return false;
    }
    return true;
}

RUN(flag_last_of_array)
{
    for (int i = 1; i <= 8; i++)
        WORD(i) = (uint64_t)i; /* missing-flush: flag_last_of_array */
    for (int i = 1; i <= 8 - bad; i++)
        flush(&WORD(i));
    fence();
    WORD(0) = 1;
    persist(&WORD(0));
}

RUN(flag_first_of_array)
{
    for (int i = 1; i <= 8; i++)
        WORD(i) = (uint64_t)i; /* missing-flush: flag_first_of_array */
    for (int i = 1 + bad; i <= 8; i++)
        flush(&WORD(i));
    fence();
    WORD(0) = 1;
    persist(&WORD(0));
}

const program_t flag_programs[] = {
    valid_programs(flag_missing_flush),
    valid_programs(flag_missing_fence),
    valid_programs(flag_before_payload),
    valid_programs(flag_one_fence_for_both),
    valid_programs(flag_wrong_line),
    valid_programs(flag_flushed_before_store),
    valid_programs(flag_written_after_flush),
    valid_programs(flag_around_caches),
    valid_programs(flag_around_caches_before_payload),
    valid_programs(flag_flushed_behind_it),
    valid_programs(flag_clflush),
    { "flag_second_payload", flag_second_payload_run, two_payloads_check },
    { "flag_first_payload", flag_first_payload_run, two_payloads_check },
    { "flag_last_of_array", flag_last_of_array_run, array_check },
    { "flag_first_of_array", flag_first_of_array_run, array_check },
    { 0 },
};
