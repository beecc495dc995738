#include "log.h"

#include "../common/prng.h"

#include <stdio.h>
#include <stdlib.h>

_Static_assert(sizeof(struct log_space) % CACHE_LINE_SIZE == 0, "logs of two threads share no line");

static uint64_t check_of(const struct log_entry *entry, uint64_t section, uint32_t place)
{
    return prng_mix(entry->offset + prng_mix(entry->before + prng_mix(section * LOG_ENTRIES + place + 1)));
}

struct log log_open(struct pool *pool, struct log_space *space)
{
    return (struct log){ .pool = pool, .space = space, .section = space->done };
}

void log_begin(struct log *log)
{
    log->section++;
    log->used = 0;
}

void log_store(struct log *log, uint64_t *at, uint64_t value)
{
    struct pool *pool = log->pool;
    struct log_entry entry = { .offset = pool_offset(pool, at), .before = *at };

    if (log->used == LOG_ENTRIES) {
        fprintf(stderr, "a section stores more than its log holds\n");
        exit(1);
    }
    entry.check = check_of(&entry, log->section, log->used);
    struct log_entry *to = &log->space->entries[log->used];
    put(pool->form, &to->offset, entry.offset);
    put(pool->form, &to->before, entry.before);
    put(pool->form, &to->check, entry.check);
    persist(pool->form, to, sizeof *to);
    put(pool->form, at, value);
    log->stored[log->used++] = at;
}

void log_commit(struct log *log)
{
    enum form form = log->pool->form;

    for (uint32_t i = 0; i < log->used; i++) {
        /* One fence is enough for all. */
        if (!form_is_by_line(form) && i + 1 < log->used)
            continue;
        uintptr_t line = (uintptr_t)log->stored[i] / CACHE_LINE_SIZE;
        uint32_t earlier = 0;
        while ((uintptr_t)log->stored[earlier] / CACHE_LINE_SIZE != line)
            earlier++;
        if (earlier == i || !form_is_by_line(form))
            persist(form, log->stored[i], sizeof(uint64_t));
    }
    put(form, &log->space->done, log->section);
    persist(form, &log->space->done, sizeof(uint64_t));
}

/* The newest first: a word may have been stored twice. */
static void undo(struct pool *pool, struct log_space *space, uint32_t used, uint64_t section)
{
    while (used-- > 0) {
        uint64_t *at = pool_at(pool, space->entries[used].offset);
        put(pool->form, at, space->entries[used].before);
        persist(pool->form, at, sizeof *at);
    }
    put(pool->form, &space->done, section);
    persist(pool->form, &space->done, sizeof(uint64_t));
}

void log_roll_back(struct log *log)
{
    undo(log->pool, log->space, log->used, log->section);
}

int log_recover(struct pool *pool, struct log_space *space)
{
    uint64_t open = space->done + 1;
    uint32_t used = 0;

    while (used < LOG_ENTRIES) {
        const struct log_entry *entry = &space->entries[used];
        if (entry->check != check_of(entry, open, used))
            break;
        if (entry->offset % sizeof(uint64_t) || entry->offset > pool->bytes - sizeof(uint64_t))
            return 0;
        used++;
    }
    undo(pool, space, used, open);
    return 1;
}
