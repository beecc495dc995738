/* Listing 1 of the paper (its section 4.1): elements of an array are written in random order, and re-read or not. */
#include "../../include/prestore_region.h"
#include "../common/args.h"
#include "../common/attributes.h"
#include "../common/meeting.h"
#include "../common/memory.h"
#include "../common/op.h"
#include "../common/prng.h"
#include "../common/result.h"
#include "../common/team.h"

#include <string.h>

/* The region of the elements after those of the warm-up. */
#define RUN_REGION 1

struct options {
    uint64_t elements, size, threads, iters, warmup, seed;
    int op, reread;
};

struct shared {
    const struct options *options;
    char *elements;
    struct meeting warm;
    struct result_span spans[TEAM_MAX_THREADS];
    uint64_t totals[TEAM_MAX_THREADS][CACHE_LINE_SIZE / sizeof(uint64_t)];
};

/* The size is a run-time value, so the C library's memcpy does the writing: the finding belongs to its caller. */
static NOINLINE void write_element(char *element, const char *source, size_t size, enum op op)
{
    if (op == OP_SKIP) {
        prestore_copy_skip(element, source, size);
    } else {
        memcpy(element, source, size);
        op_apply(element, size, op);
    }
}

static void write_elements(void *context, uint64_t thread)
{
    struct shared *shared = context;
    const struct options *options = shared->options;
    struct prng prng = prng_new(options->seed, thread);
    uint64_t iters = team_share(options->iters, options->threads, thread);
    uint64_t warmup = team_share(options->warmup, options->threads, thread);
    uint64_t total = 0;
    _Alignas(CACHE_LINE_SIZE) char source[4096];

    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (char)prng_next(&prng);
    for (uint64_t i = 0; i < warmup + iters; i++) {
        if (i == warmup) {
            meeting_attend(&shared->warm, options->threads, thread);
            shared->spans[thread].begin = result_now();
            PRESTORE_REGION_BEGIN(RUN_REGION);
        }
        char *element = shared->elements + prng_below(&prng, options->elements) * options->size;
        write_element(element, source, options->size, (enum op)options->op);
        if (options->reread)
            total += *(volatile uint64_t *)element;
    }
    if (iters > 0) {
        PRESTORE_REGION_END(RUN_REGION);
        shared->spans[thread].end = result_now();
    } else {
        meeting_attend(&shared->warm, options->threads, thread);
    }
    shared->totals[thread][0] = total;
}

int main(int argc, char **argv)
{
    struct options options = {
        .elements = 128 << 10, .size = 1024, .threads = 1, .iters = 100000, .seed = 1, .op = OP_NONE, .reread = 1,
    };
    const struct arg args[] = {
        ARG_COUNT_OF("elements", &options.elements, 1, UINT32_MAX, "elements of the array"),
        ARG_COUNT_OF("size", &options.size, 64, 4096, "bytes of an element, a multiple of 64"),
        ARG_COUNT_OF("threads", &options.threads, 1, TEAM_MAX_THREADS, "threads"),
        ARG_COUNT_OF("iters", &options.iters, 1, 1e12, "elements written, by all threads together"),
        ARG_COUNT_OF("warmup", &options.warmup, 0, 1e12, "elements written before those, by all threads together"),
        ARG_COUNT_OF("seed", &options.seed, 0, 1e18, "seed of the random order"),
        ARG_CHOICE_OF("reread", &options.reread, ARG_NO_YES, "read a field of the element after writing it"),
        ARG_CHOICE_OF("op", &options.op, OP_WORDS, "pre-store applied to each element written"),
    };
    static struct shared shared;

    args_parse(argc, argv, "Threads write the elements of an array in random order (listing 1).", args,
               sizeof args / sizeof *args);
    if (options.size % 64)
        args_fail("--size must be a multiple of 64");
    shared.options = &options;
    shared.elements = memory_fresh(options.elements * options.size);

    team_run(options.threads, write_elements, &shared);
    double seconds = result_spanned(shared.spans, options.threads);

    uint64_t total = 0;
    for (uint64_t t = 0; t < options.threads; t++)
        total += shared.totals[t][0];
    result_print("listing1", options.iters, seconds, total);
    memory_release(shared.elements, options.elements * options.size);
    return 0;
}
