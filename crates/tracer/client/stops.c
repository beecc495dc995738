#include "stops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "access.h"
#include "drmgr.h"
#include "hashtable.h"
#include "options.h"
#include "proc_maps.h"
#include "thread.h"

#define PAGE 4096
#define MAX_THREADS 256

/* In the file, as tests/rebuild has it: words. A stop: STOP, its process, the number of threads, of
 * each its id and its words; then pages, each PAGE_CHANGED and its address with its content; then
 * ranges that are writable, RANGE with begin and end; then DONE. */
enum { STOP = 1, PAGE_CHANGED = 2, RANGE = 3, DONE = 4 };

/* One that has ended is told of once. */
typedef enum { NOBODY, RUNS, IN_KERNEL, WAITS, ENDS, ENDED } where_t;

typedef struct {
    volatile int where; /* where_t */
    uint64 tid, words;
} place_t;

static file_t file;
/* Not those that it forks. */
static process_id_t process;
static hashtable_t known; /* page -> hash of what was written of it */
static place_t places[MAX_THREADS];
static int tls_index;
static volatile int wanted; /* a stop is made */
static volatile int64 left;
static uint64 blocks, random_state = 0x9e3779b97f4a7c15ull;

static void
put(const void *data, size_t n)
{
    dr_write_file(file, data, n);
}

static void
put_words(uint64 a, uint64 b, uint64 c)
{
    uint64 words[3] = { a, b, c };
    put(words, sizeof(words));
}

static uint64
words_of(thread_t *t)
{
    uint64 *at = (uint64 *)*thread_slot_of(t, TLS_WRITE);
    return t->channel.ring == NULL ? 0 : t->channel.handed_over + (uint64)(at - t->channel.slot);
}

static uint64
hash(const uint64 *page)
{
    uint64 h = 1;
    for (size_t i = 0; i < PAGE / sizeof(*page); i++)
        h = (h ^ page[i]) * 0x9e3779b97f4a7c15ull ^ h >> 29;
    return h;
}

static void
write_range(uint64 begin, uint64 end, bool file, void *of)
{
    uint64 page[PAGE / 8];
    size_t got;
    for (uint64 at = begin; at < end; at += PAGE) {
        if (!dr_safe_read((void *)at, PAGE, page, &got) || got != PAGE)
            continue;
        static const uint64 zeros[PAGE / 8];
        void *before = hashtable_lookup(&known, (void *)at);
        if (before == NULL && memcmp(page, zeros, PAGE) == 0)
            continue;
        void *now = (void *)(hash(page) | 1);
        if (before == now)
            continue;
        hashtable_add_replace(&known, (void *)at, now);
        put_words(PAGE_CHANGED, at, 0);
        put(page, PAGE);
    }
    put_words(RANGE, begin, end);
}

/* Of the threads that are stopped: one that begins meanwhile has done nothing yet. */
static void
write_stop(const bool stopped[MAX_THREADS])
{
    uint64 n = 0;
    for (int i = 0; i < MAX_THREADS; i++)
        n += stopped[i];
    put_words(STOP, dr_get_process_id(), n);
    for (int i = 0; i < MAX_THREADS; i++) {
        if (!stopped[i])
            continue;
        put_words(places[i].tid, places[i].words, places[i].where);
        if (places[i].where == ENDED)
            places[i].where = NOBODY;
    }
    proc_maps_each_writable(write_range, NULL);
    put_words(DONE, 0, 0);
}

static void
wait_in(void *drcontext, place_t *p)
{
    p->words = words_of(thread_of(drcontext));
    p->where = WAITS;
    dr_mark_safe_to_suspend(drcontext, true);
    while (wanted != 0)
        dr_thread_yield();
    dr_mark_safe_to_suspend(drcontext, false);
    p->where = RUNS;
}

/* Is the kernel done with a thread that has ended? Only then has it cleared the word that the thread
 * has asked it to, which is recorded before. One that leads its process stays until that ends. */
static bool
is_gone(const place_t *p)
{
    return (process_id_t)p->tid == process || (syscall(SYS_tgkill, process, (process_id_t)p->tid, 0) != 0 && errno == ESRCH);
}

static void
wait_for(const place_t *p)
{
    while (p->where == RUNS || p->where == ENDS || (p->where == ENDED && !is_gone(p)))
        dr_thread_yield();
}

static uint64
next_stop(void)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return 1 + (random_state >> 33) % (2 * blocks);
}

static void
stop_all(void *drcontext, place_t *p)
{
    bool stopped[MAX_THREADS];
    p->words = words_of(thread_of(drcontext));
    for (int i = 0; i < MAX_THREADS; i++) {
        stopped[i] = places[i].where != NOBODY;
        if (stopped[i] && &places[i] != p)
            wait_for(&places[i]);
    }
    write_stop(stopped);
    left = (int64)next_stop();
    __atomic_store_n(&wanted, 0, __ATOMIC_SEQ_CST);
}

static void
returns(void *drcontext, place_t *p)
{
    /* First to run, then to look: who stops the others does it the other way round. */
    __atomic_store_n(&p->where, RUNS, __ATOMIC_SEQ_CST);
    if (wanted != 0) {
        __atomic_store_n(&p->where, IN_KERNEL, __ATOMIC_SEQ_CST);
        dr_mark_safe_to_suspend(drcontext, true);
        while (wanted != 0)
            dr_thread_yield();
        dr_mark_safe_to_suspend(drcontext, false);
        p->where = RUNS;
    }
}

static void
on_return(void *drcontext, int number)
{
    place_t *p = drmgr_get_tls_field(drcontext, tls_index);
    if (p != NULL && dr_get_process_id() == process)
        returns(drcontext, p);
}

static void
on_begin(void)
{
    void *drcontext = dr_get_current_drcontext();
    place_t *p = drmgr_get_tls_field(drcontext, tls_index);
    if (p == NULL || dr_get_process_id() != process)
        return;
    /* A call that was not made: the client has answered it. */
    if (p->where == IN_KERNEL)
        returns(drcontext, p);
    while (wanted != 0)
        wait_in(drcontext, p);
    if (__atomic_sub_fetch(&left, 1, __ATOMIC_RELAXED) > 0)
        return;
    int nobody = 0;
    if (__atomic_compare_exchange_n(&wanted, &nobody, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        stop_all(drcontext, p);
}

static dr_emit_flags_t
on_block(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating)
{
    dr_insert_clean_call(drcontext, bb, instrlist_first(bb), (void *)on_begin, false, 0);
    return DR_EMIT_DEFAULT;
}

/* Does no other thread run any more? */
static bool
is_last(void)
{
    int n = 0;
    for (int i = 0; i < MAX_THREADS; i++)
        n += places[i].where != NOBODY && places[i].where != ENDED;
    return n == 1;
}

static bool
on_call(void *drcontext, int number)
{
    place_t *p = drmgr_get_tls_field(drcontext, tls_index);
    if (p == NULL || dr_get_process_id() != process)
        return true;
    if (number == SYS_exit_group || (number == SYS_exit && is_last())) {
        int nobody = 0;
        while (!__atomic_compare_exchange_n(&wanted, &nobody, 1, false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST)) {
            wait_in(drcontext, p);
            nobody = 0;
        }
        stop_all(drcontext, p);
    }
    p->words = words_of(thread_of(drcontext));
    __atomic_store_n(&p->where, number == SYS_exit ? ENDS : IN_KERNEL, __ATOMIC_SEQ_CST);
    return true;
}

static void
on_thread_init(void *drcontext)
{
    place_t *p = NULL;
    for (int i = 0; i < MAX_THREADS && p == NULL; i++) {
        int nobody = NOBODY;
        if (__atomic_compare_exchange_n(&places[i].where, &nobody, RUNS, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            p = &places[i];
    }
    drmgr_set_tls_field(drcontext, tls_index, p);
    if (p != NULL)
        p->tid = dr_get_thread_id(drcontext);
}

static void
on_thread_exit(void *drcontext)
{
    place_t *p = drmgr_get_tls_field(drcontext, tls_index);
    if (p == NULL)
        return;
    p->words = ~0ull;
    __atomic_store_n(&p->where, ENDED, __ATOMIC_SEQ_CST);
}

bool
stops_init(void)
{
    char path[MAXIMUM_PATH];
    const char *comma = strrchr(options.stops, ',');
    size_t length = comma == NULL ? 0 : (size_t)(comma - options.stops);
    if (length == 0 || length >= sizeof(path)) {
        dr_fprintf(STDERR, "prestore: PRESTORE_STOPS is FILE,BLOCKS, not '%s'\n", options.stops);
        return false;
    }
    memcpy(path, options.stops, length);
    path[length] = '\0';
    blocks = strtoull(comma + 1, NULL, 10);
    left = (int64)next_stop();
    process = dr_get_process_id();
    file = dr_open_file(path, DR_FILE_WRITE_OVERWRITE | DR_FILE_ALLOW_LARGE);
    if (blocks == 0 || file < 0) {
        dr_fprintf(STDERR, "prestore: PRESTORE_STOPS: '%s' cannot be used\n", options.stops);
        return false;
    }
    hashtable_init_ex(&known, 16, HASH_INTPTR, false, false, NULL, NULL, NULL);
    tls_index = drmgr_register_tls_field();
    drmgr_priority_t last = { .struct_size = sizeof(last), .name = "prestore_stops", .priority = 2000 };
    drmgr_priority_t behind = { .struct_size = sizeof(behind),
                                .name = "prestore_stops_calls",
                                .priority = 2000 };
    drmgr_priority_t first = { .struct_size = sizeof(first),
                               .name = "prestore_stops_returns",
                               .priority = -2000 };
    return drmgr_register_bb_meta_instru_event(on_block, &last) &&
           drmgr_register_thread_init_event(on_thread_init) &&
           drmgr_register_thread_exit_event(on_thread_exit) &&
           drmgr_register_pre_syscall_event_ex(on_call, &behind) &&
           drmgr_register_post_syscall_event_ex(on_return, &first);
}

void
stops_exit(void)
{
    hashtable_delete(&known);
}
