/* The linear array loop of P1, section 3.2: each element of an array is read, written, or both, each store persistent
 * before the next where a form says so. */
#include "../../include/prestore_region.h"
#include "../common/args.h"
#include "../common/result.h"
#include "pool.h"

#include <stdio.h>

#define KIND UINT64_C(0x6d6f64652d617231)
#define MEASURED_REGION 1

enum kind { READ, WRITE, READ_WRITE };

static const char *const KIND_WORDS[] = { "r", "w", "rw", NULL };

/* The value of every element after so many passes that write. */
static NOINLINE uint64_t pass(struct pool *pool, uint64_t *array, uint64_t elements, enum kind kind, uint64_t number)
{
    enum form form = pool->form;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < elements; i++) {
        uint64_t before = kind == WRITE ? number : ((volatile uint64_t *)array)[i];
        sum += before;
        if (kind == READ)
            continue;
        put(form, &array[i], kind == WRITE ? number + 1 : before + 1);
        persist(form, &array[i], sizeof array[i]);
    }
    return sum;
}

static size_t bytes_of(const uint64_t *shape)
{
    return shape[0] < UINT64_C(1) << 40 ? shape[0] * sizeof(uint64_t) : SIZE_MAX / 2;
}

/* Elements are written front to back: those of a pass that was cut off come first. */
static const char *wrong_in(const struct pool *pool)
{
    const uint64_t *array = (const uint64_t *)pool->data;
    uint64_t elements = pool->root->shape[0], steps = 0;

    for (uint64_t i = 1; i < elements; i++) {
        if (array[i] == array[i - 1])
            continue;
        if (array[i] + 1 != array[i - 1] || ++steps > 1)
            return "an element is persistent and one before it is not";
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct pool_options options = { .file = "" };
    uint64_t elements = 100000, passes = 4, warmup = 1;
    int kind = READ_WRITE;
    const struct arg args[] = {
        ARG_CHOICE_OF("kind", &kind, KIND_WORDS, "what is done with each element: read, written, both"),
        ARG_COUNT_OF("elements", &elements, 1, 1e9, "elements of 8 bytes"),
        ARG_COUNT_OF("passes", &passes, 1, 1e9, "times that all are gone through"),
        ARG_COUNT_OF("warmup", &warmup, 0, 1e9, "the same before, not timed"),
        POOL_ARGS(&options),
    };

    args_parse(argc, argv, "Goes through an array in persistent memory (P1's synthetic benchmark).", args,
               sizeof args / sizeof *args);
    if (options.check) {
        struct pool left = pool_left(&options, KIND, bytes_of);
        pool_verdict("modes_array", wrong_in(&left));
    }
    struct pool pool = pool_make(&options, elements * sizeof(uint64_t));
    uint64_t *array = (uint64_t *)pool.data, sum = 0, number = 0;
    pool_publish(&pool, KIND, &elements, 1);
    while (number < warmup)
        sum += pass(&pool, array, elements, (enum kind)kind, number++);

    double start = result_now();
    PRESTORE_REGION_BEGIN(MEASURED_REGION);
    while (number < warmup + passes)
        sum += pass(&pool, array, elements, (enum kind)kind, number++);
    PRESTORE_REGION_END(MEASURED_REGION);
    result_print("modes_array", elements * passes, result_now() - start, sum);
    return 0;
}
