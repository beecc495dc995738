/* An array of which two elements change places at a time, in a failure-atomic section. */
#include "tables.h"

#include "../common/team.h"

#include <stdlib.h>

#define WORDS 8

/* A line. */
struct element {
    uint64_t words[WORDS];
};

static size_t bytes_of(uint64_t elements, uint64_t threads, uint64_t room)
{
    (void)threads, (void)room;
    return elements * sizeof(struct element);
}

static uint64_t word_of(uint64_t element, uint64_t word)
{
    return prng_mix(element * WORDS + word + 1);
}

static void fill(struct tables *array)
{
    struct element *elements = (struct element *)array->data;

    for (uint64_t i = 0; i < array->size; i++)
        for (uint64_t w = 0; w < WORDS; w++)
            put(array->pool.form, &elements[i].words[w], word_of(i, w));
    persist(array->pool.form, elements, array->size * sizeof *elements);
}

/* Two elements of the thread's: as many threads as there are, every so many-th element is. */
static void draw(const struct tables *array, uint64_t thread, struct prng *prng, uint64_t *a, uint64_t *b)
{
    uint64_t own = team_share(array->size, array->threads, thread);

    *a = prng_below(prng, own);
    *b = (*a + 1 + prng_below(prng, own - 1)) % own;
    *a = *a * array->threads + thread;
    *b = *b * array->threads + thread;
}

static NOINLINE void swap(struct log *log, struct element *a, struct element *b)
{
    for (int i = 0; i < WORDS; i++) {
        uint64_t word = a->words[i];
        log_store(log, &a->words[i], b->words[i]);
        /* The defect: what one word was is not in the log. */
        if (DEFECT && i == WORDS - 1) {
            put(log->pool->form, &b->words[i], word);
            persist(log->pool->form, &b->words[i], sizeof word);
        } else {
            log_store(log, &b->words[i], word);
        }
    }
}

static void update(struct tables *array, uint64_t thread, struct prng *prng, struct log *log, uint64_t done)
{
    struct element *elements = (struct element *)array->data;
    uint64_t a, b;

    draw(array, thread, prng, &a, &b);
    if (!log)
        return;
    log_begin(log);
    swap(log, &elements[a], &elements[b]);
    sections_commit(log, array->sections, thread, done);
}

/* Each element is whole, and where the swaps that were counted brought it. */
static const char *compare(const struct tables *array)
{
    const struct element *elements = (const struct element *)array->data;
    uint64_t *places = malloc(array->size * sizeof *places);
    const char *wrong = places ? NULL : "no memory for what has to be there";

    for (uint64_t i = 0; i < array->size && !wrong; i++)
        places[i] = i;
    for (uint64_t t = 0; t < array->threads && !wrong; t++) {
        struct prng prng = prng_new(array->seed, t);
        for (uint64_t left = tables_done(array, t); left > 0; left--) {
            uint64_t a, b, place;
            draw(array, t, &prng, &a, &b);
            place = places[a];
            places[a] = places[b];
            places[b] = place;
        }
    }
    for (uint64_t i = 0; i < array->size && !wrong; i++)
        for (uint64_t w = 0; w < WORDS; w++)
            if (elements[i].words[w] != word_of(places[i], w))
                wrong = w ? "an element is torn" : "an element is not where the swaps that were counted brought it";
    free(places);
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct tables_program program = {
        .name = "pm_swap",
        .summary = "Swaps elements of a persistent array.",
        .kind = UINT64_C(0x706d2d7377617031),
        .size = "elements",
        .says = "elements of the array, of 64 bytes",
        .usual = 1000,
        .least = 2 * MOST_THREADS,
        .bytes_of = bytes_of,
        .fill = fill,
        .update = update,
        .compare = compare,
    };
    return tables_main(argc, argv, &program);
}
