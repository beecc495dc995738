/* What costs time only, system calls, and threads. */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pm.h"

CHECK(anything)
{
    (void)pool;
    return true;
}
#define anything_programs(name) { #name, name##_run, anything_check }

RUN(redundant_flush_twice)
{
    WORD(1) = 7;
    flush(&WORD(1));
    if (bad)
        flush(&WORD(1)); /* redundant-flush: redundant_flush_twice */
    fence();
}

RUN(redundant_flush_of_clean_line)
{
    WORD(1) = 7;
    flush(&WORD(1));
    if (bad)
        flush(&WORD(2)); /* redundant-flush: redundant_flush_of_clean_line */
    fence();
}

RUN(redundant_flush_behind_fence)
{
    WORD(1) = 7;
    persist(&WORD(1));
    if (bad)
        _mm_clflush((void *)&WORD(1)); /* redundant-flush: redundant_flush_behind_fence */
}

RUN(redundant_fence_twice)
{
    WORD(1) = 7;
    persist(&WORD(1));
    if (bad)
        fence(); /* redundant-fence: redundant_fence_twice */
}

CHECK(synced)
{
    return WORD(0) == 0 || WORD(1) == 7;
}

RUN(synced_asynchronously)
{
    WORD(1) = 7; /* missing-flush: synced_asynchronously */
    msync(pool, sizeof(*pool), bad ? MS_ASYNC : MS_SYNC);
    WORD(0) = 1;
    persist(&WORD(0));
}

/* What a system call writes is as if it were stored there. */
RUN(read_from_a_pipe)
{
    int ends[2];
    const uint64_t seven = 7;
    if (pipe(ends) != 0 || write(ends[1], &seven, sizeof(seven)) != sizeof(seven))
        _exit(1);
    if (read(ends[0], (void *)&WORD(1), sizeof(seven)) != sizeof(seven)) /* missing-flush: read_from_a_pipe */
        _exit(1);
    if (!bad)
        persist(&WORD(1));
    WORD(0) = 1;
    persist(&WORD(0));
}

static void *
flushes(void *argument)
{
    pool_t *pool = argument;
    flush(&WORD(1));
    return NULL;
}

static void *
flushes_and_fences(void *argument)
{
    pool_t *pool = argument;
    persist(&WORD(1));
    return NULL;
}

RUN(flushed_by_another_thread)
{
    pthread_t thread;
    WORD(1) = 7; /* ordering: flushed_by_another_thread */
    if (!bad) {
        pthread_create(&thread, NULL, flushes_and_fences, pool);
        pthread_join(thread, NULL);
    }
    WORD(0) = 1;
    persist(&WORD(0));
    if (bad) {
        pthread_create(&thread, NULL, flushes, pool);
        pthread_join(thread, NULL);
    }
}

/* A pool is made: a mark of what it is comes last. */
CHECK(made)
{
    for (int i = 1; i < 8; i++) {
        if (WORD(0) != 0 && pool->lines[i].at[2] != 0x5555555555555555)
            return false;
    }
    return true;
}

RUN(made_by_memset)
{
    void *to = (void *)&WORD(1);
    uint64_t bytes = 7 * 64;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(0x55) : "memory"); /* missing-flush: made_by_memset */
    for (int i = 1; i < 8 - bad; i++)
        flush(&WORD(i));
    fence();
    WORD(0) = 1;
    persist(&WORD(0));
}

const program_t other_programs[] = {
    anything_programs(redundant_flush_twice),
    anything_programs(redundant_flush_of_clean_line),
    anything_programs(redundant_flush_behind_fence),
    anything_programs(redundant_fence_twice),
    { "synced_asynchronously", synced_asynchronously_run, synced_check },
    { "read_from_a_pipe", read_from_a_pipe_run, synced_check },
    { "flushed_by_another_thread", flushed_by_another_thread_run, synced_check },
    { "made_by_memset", made_by_memset_run, made_check },
    { 0 },
};
