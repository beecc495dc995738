/* A copy-on-write list (P1, section 3.2): an array that is never modified once it is there. Who changes an element makes
 * a copy with the change and publishes that with one atomic; if another was published meanwhile, it begins anew. */
#include "../../include/prestore_region.h"
#include "../common/args.h"
#include "../common/result.h"
#include "../common/team.h"
#include "pool.h"

#include <stdatomic.h>
#include <stdio.h>

#define KIND UINT64_C(0x6d6f64652d636f31)
#define MEASURED_REGION 1
#define MOST_THREADS 8
/* The published word: the version, and below it which array has it. */
#define SLOT_BITS 8
#define SLOT_MASK ((UINT64_C(1) << SLOT_BITS) - 1)

enum tracking { EACH, TRACKED };

static const char *const TRACKING_WORDS[] = { "each", "tracked", NULL };

struct array {
    uint64_t version, length;
    uint64_t unused[6];
    uint64_t elements[]; /* how often each was changed: their sum is the version */
};

struct run {
    struct pool *pool;
    _Atomic uint64_t *current;
    uint64_t length, mutations, threads;
    int tracking;
    /* Not persistent: the newest version that is known to be published persistently. */
    _Alignas(CACHE_LINE_SIZE) _Atomic uint64_t persistent;
    /* Not persistent: the arrays that threads read. */
    struct {
        _Alignas(CACHE_LINE_SIZE) _Atomic uint64_t slot; /* and 1; 0: none */
    } reads[MOST_THREADS];
    /* And those that they write. */
    struct {
        _Alignas(CACHE_LINE_SIZE) uint64_t slot;
    } own[MOST_THREADS];
    uint64_t sums[MOST_THREADS];
};

static size_t array_bytes(uint64_t length)
{
    size_t bytes = sizeof(struct array) + length * sizeof(uint64_t);
    return (bytes + CACHE_LINE_SIZE - 1) & ~(size_t)(CACHE_LINE_SIZE - 1);
}

/* Each thread has those that it writes by turns: one may be current, each other thread may read one. */
static uint64_t slots_a_thread(uint64_t threads)
{
    return threads + 1;
}

static size_t bytes_of(const uint64_t *shape)
{
    if (shape[0] > UINT64_C(1) << 32 || shape[1] > MOST_THREADS)
        return SIZE_MAX / 2;
    return CACHE_LINE_SIZE + shape[1] * slots_a_thread(shape[1]) * array_bytes(shape[0]);
}

static struct array *array_at(const struct pool *pool, uint64_t length, uint64_t slot)
{
    return (struct array *)(pool->data + CACHE_LINE_SIZE + slot * array_bytes(length));
}

/* The current array, which nobody writes to until it is released. */
static uint64_t hold(struct run *run, uint64_t thread)
{
    for (;;) {
        uint64_t current = atomic_load(run->current);
        atomic_store(&run->reads[thread].slot, (current & SLOT_MASK) + 1);
        if (atomic_load(run->current) == current)
            return current;
    }
}

static void release(struct run *run, uint64_t thread)
{
    atomic_store(&run->reads[thread].slot, 0);
}

/* One of the thread's own that is neither current nor read. */
static uint64_t unused_slot(struct run *run, uint64_t thread, uint64_t current)
{
    uint64_t each = slots_a_thread(run->threads);

    for (;;) {
        uint64_t slot = thread * each + run->own[thread].slot++ % each;
        int used = slot == (current & SLOT_MASK);
        for (uint64_t t = 0; t < run->threads; t++)
            used |= atomic_load(&run->reads[t].slot) == slot + 1;
        if (!used)
            return slot;
    }
}

static NOINLINE void copy_with(struct run *run, struct array *to, const struct array *from, uint64_t changed)
{
    enum form form = run->pool->form;
    int each = run->tracking == EACH;

    for (uint64_t i = 0; i < run->length; i++) {
        put(form, &to->elements[i], ((const volatile uint64_t *)from->elements)[i] + (i == changed));
        if (each)
            persist(form, &to->elements[i], sizeof(uint64_t));
    }
    put(form, &to->length, run->length);
    put(form, &to->version, from->version + 1);
    persist(form, to, each ? sizeof *to : array_bytes(run->length));
}

/* The published word, which is `current` or newer, is persistent behind this: flushed by whoever comes first. It is
 * stored by an atomic, and there is none around the caches: it is flushed all the same. */
static void persist_current(struct run *run, uint64_t current)
{
    enum form form = run->pool->form;
    uint64_t version = current >> SLOT_BITS, known = atomic_load(&run->persistent);

    if (known >= version)
        return;
    persist(form == FORM_NT ? FORM_CLFLUSH : form, run->pool->data, sizeof(uint64_t));
    while (known < version && !atomic_compare_exchange_weak(&run->persistent, &known, version))
        ;
}

static NOINLINE void mutate(struct run *run, uint64_t thread, uint64_t element)
{
    for (;;) {
        uint64_t current = hold(run, thread);
        /* Before its predecessor is written over: another thread may have published it and not come further. */
        persist_current(run, current);
        uint64_t slot = unused_slot(run, thread, current), next = (((current >> SLOT_BITS) + 1) << SLOT_BITS) | slot;
        copy_with(run, array_at(run->pool, run->length, slot), array_at(run->pool, run->length, current & SLOT_MASK),
                  element);
        release(run, thread);
        if (atomic_compare_exchange_strong(run->current, &current, next)) {
            persist_current(run, next);
            return;
        }
    }
}

/* As an iterator of P1's model does, Java's list: it has the array alone, which knows its length, and asks it before each
 * element. */
static NOINLINE uint64_t traverse(struct run *run, uint64_t thread)
{
    const volatile struct array *array = array_at(run->pool, run->length, hold(run, thread) & SLOT_MASK);
    uint64_t sum = 0;

    for (uint64_t i = 0; i < array->length; i++)
        sum += array->elements[i];
    release(run, thread);
    return sum;
}

static void work(void *context, uint64_t thread)
{
    struct run *run = context;
    uint64_t mutations = team_share(run->mutations, run->threads, thread), sum = 0;

    PRESTORE_REGION_BEGIN(MEASURED_REGION);
    for (uint64_t i = 0; i < mutations; i++) {
        mutate(run, thread, (i * 7 + thread) % run->length);
        sum += traverse(run, thread) > 0;
    }
    PRESTORE_REGION_END(MEASURED_REGION);
    run->sums[thread] = sum;
}

/* What is published is whole. */
static const char *wrong_in(const struct pool *pool)
{
    uint64_t length = pool->root->shape[0], threads = pool->root->shape[1], sum = 0;
    uint64_t current = *(const uint64_t *)pool->data;

    if (threads < 1 || (current & SLOT_MASK) >= threads * slots_a_thread(threads))
        return "what is published is no array";
    const struct array *array = array_at(pool, length, current & SLOT_MASK);
    if (array->version != current >> SLOT_BITS)
        return "the published array has another version";
    if (array->version > 0 && array->length != length)
        return "the published array has another length";
    for (uint64_t i = 0; i < length; i++)
        sum += array->elements[i];
    return sum == array->version ? NULL : "an element of the published array is not as it was written";
}

int main(int argc, char **argv)
{
    struct pool_options options = { .file = "" };
    static struct run run = { .length = 1000, .mutations = 2000, .threads = 2 };
    const struct arg args[] = {
        ARG_COUNT_OF("length", &run.length, 1, 1e8, "elements of the list, of 8 bytes"),
        ARG_COUNT_OF("mutations", &run.mutations, 1, 1e9, "changes of all threads, each followed by a look at all elements"),
        ARG_COUNT_OF("threads", &run.threads, 1, MOST_THREADS, "threads"),
        ARG_CHOICE_OF("persist", &run.tracking, TRACKING_WORDS,
                      "each store of a copy at once, or the whole copy before it is published"),
        POOL_ARGS(&options),
    };

    args_parse(argc, argv, "A persistent copy-on-write list (P1).", args, sizeof args / sizeof *args);
    if (options.check) {
        struct pool left = pool_left(&options, KIND, bytes_of);
        pool_verdict("modes_cowlist", wrong_in(&left));
    }
    const uint64_t shape[] = { run.length, run.threads };
    struct pool pool = pool_make(&options, bytes_of(shape));
    run.pool = &pool;
    run.current = (_Atomic uint64_t *)pool.data;
    pool_publish(&pool, KIND, shape, 2);

    double start = result_now();
    team_run(run.threads, work, &run);
    uint64_t sum = atomic_load(run.current) >> SLOT_BITS;
    for (uint64_t t = 0; t < run.threads; t++)
        sum += run.sums[t];
    result_print("modes_cowlist", run.mutations, result_now() - start, sum);
    return 0;
}
