/* Logs: what is in them has to be there before it is relied on. Lines 1 and 2 are data, which sum up to 100
 * or are both 0; line 4 says what the log holds, lines 5 and 6 are its entries. */
#include "pm.h"

#define NO_LOG 0
#define UNDO 1
#define REDO 2

static void
begin(pool_t *pool)
{
    WORD(1) = 60;
    WORD(2) = 40;
    flush(&WORD(1));
    flush(&WORD(2));
    fence();
    WORD(7) = 1;
    persist(&WORD(7));
}

CHECK(sum)
{
    if (WORD(4) == UNDO || WORD(4) == REDO) {
        WORD(1) = WORD(5);
        WORD(2) = WORD(6);
    }
    return WORD(7) == 0 || WORD(1) + WORD(2) == 100;
}
#define sum_programs(name) { #name, name##_run, sum_check }

typedef enum { NOTHING, FLUSH, FENCE, EARLY_DATA, EARLY_END, DATA_FLUSH, MARK_FLUSH, FIRST_ENTRY } defect_t;

/* 60 + 40 becomes 10 + 90. */
static inline __attribute__((always_inline)) void
undo(pool_t *pool, defect_t has)
{
    begin(pool);
    WORD(5) = WORD(1); /* missing-flush: undo_first_entry */
    WORD(6) = WORD(2); /* missing-flush: undo_entry_missing_flush */
    if (has != FIRST_ENTRY)
        flush(&WORD(5));
    if (has != FLUSH)
        flush(&WORD(6));
    fence();
    if (has == EARLY_DATA)
        WORD(1) = 10; /* ordering: undo_data_before_log */
    WORD(4) = UNDO; /* missing-flush: undo_mark_missing_flush; missing-fence: undo_mark_missing_fence */
    if (has != MARK_FLUSH)
        flush(&WORD(4));
    if (has != FENCE)
        fence();
    WORD(1) = 10;
    WORD(2) = 90; /* ordering: undo_truncated_too_early; missing-flush: undo_data_missing_flush */
    flush(&WORD(1));
    if (has != DATA_FLUSH && has != EARLY_END)
        flush(&WORD(2));
    fence();
    WORD(4) = NO_LOG;
    persist(&WORD(4));
    if (has == EARLY_END)
        persist(&WORD(2));
}

RUN(undo_entry_missing_flush) { undo(pool, bad ? FLUSH : NOTHING); }
RUN(undo_first_entry) { undo(pool, bad ? FIRST_ENTRY : NOTHING); }
RUN(undo_mark_missing_flush) { undo(pool, bad ? MARK_FLUSH : NOTHING); }
RUN(undo_mark_missing_fence) { undo(pool, bad ? FENCE : NOTHING); }
RUN(undo_data_before_log) { undo(pool, bad ? EARLY_DATA : NOTHING); }
RUN(undo_data_missing_flush) { undo(pool, bad ? DATA_FLUSH : NOTHING); }
RUN(undo_truncated_too_early) { undo(pool, bad ? EARLY_END : NOTHING); }

static inline __attribute__((always_inline)) void
redo(pool_t *pool, defect_t has)
{
    begin(pool);
    WORD(5) = 10; /* missing-fence: redo_entry_missing_fence */
    WORD(6) = 90; /* missing-flush: redo_entry_missing_flush; missing-fence: redo_entry_missing_fence; ordering: redo_entry_behind_mark */
    flush(&WORD(5));
    if (has != FLUSH && has != EARLY_DATA)
        flush(&WORD(6));
    if (has != FENCE)
        fence();
    WORD(4) = REDO;
    persist(&WORD(4));
    if (has == EARLY_DATA)
        persist(&WORD(6));
    WORD(1) = 10; /* missing-flush: redo_data_missing_flush */
    WORD(2) = 90; /* ordering: redo_truncated_too_early */
    if (has != DATA_FLUSH)
        flush(&WORD(1));
    if (has != EARLY_END)
        flush(&WORD(2));
    fence();
    WORD(4) = NO_LOG;
    persist(&WORD(4));
    if (has == EARLY_END)
        persist(&WORD(2));
}

RUN(redo_entry_missing_flush) { redo(pool, bad ? FLUSH : NOTHING); }
RUN(redo_entry_missing_fence) { redo(pool, bad ? FENCE : NOTHING); }
RUN(redo_entry_behind_mark) { redo(pool, bad ? EARLY_DATA : NOTHING); }
RUN(redo_data_missing_flush) { redo(pool, bad ? DATA_FLUSH : NOTHING); }
RUN(redo_truncated_too_early) { redo(pool, bad ? EARLY_END : NOTHING); }

RUN(swap_without_log)
{
    begin(pool);
    if (bad) {
        WORD(1) = 10; /* ordering: swap_without_log */
        WORD(2) = 90;
        flush(&WORD(1));
        flush(&WORD(2));
        fence();
    } else {
        undo(pool, NOTHING);
    }
}

/* A log of records, and how many there are in line 0. */
CHECK(records)
{
    for (uint64_t i = 1; i <= WORD(0); i++) {
        if (pool->lines[i].at[0] != i || pool->lines[i].at[7] != i * i)
            return false;
    }
    return true;
}
#define record_programs(name) { #name, name##_run, records_check }

static inline __attribute__((always_inline)) void
append(pool_t *pool, defect_t has)
{
    for (uint64_t i = 1; i <= 3; i++) {
        if (has == EARLY_DATA)
            WORD(0) = i; /* ordering: record_behind_count */
        pool->lines[i].at[0] = i;
        pool->lines[i].at[7] = i * i; /* missing-flush: record_missing_flush; missing-fence: record_missing_fence */
        if (has != FLUSH)
            flush(&WORD(i));
        if (has != FENCE)
            fence();
        if (has != EARLY_DATA)
            WORD(0) = i;
        persist(&WORD(0));
    }
}

RUN(record_missing_flush) { append(pool, bad ? FLUSH : NOTHING); }
RUN(record_missing_fence) { append(pool, bad ? FENCE : NOTHING); }
RUN(record_behind_count) { append(pool, bad ? EARLY_DATA : NOTHING); }

const program_t log_programs[] = {
    sum_programs(undo_entry_missing_flush),
    sum_programs(undo_first_entry),
    sum_programs(undo_mark_missing_flush),
    sum_programs(undo_mark_missing_fence),
    sum_programs(undo_data_before_log),
    sum_programs(undo_data_missing_flush),
    sum_programs(undo_truncated_too_early),
    sum_programs(redo_entry_missing_flush),
    sum_programs(redo_entry_missing_fence),
    sum_programs(redo_entry_behind_mark),
    sum_programs(redo_data_missing_flush),
    sum_programs(redo_truncated_too_early),
    sum_programs(swap_without_log),
    record_programs(record_missing_flush),
    record_programs(record_missing_fence),
    record_programs(record_behind_count),
    { 0 },
};
