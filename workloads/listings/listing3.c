/* Listing 3 of the paper (its section 5): one cache line is rewritten all the time, so a pre-store only harms. */
#include "../../include/prestore_region.h"
#include "../common/args.h"
#include "../common/attributes.h"
#include "../common/op.h"
#include "../common/result.h"

#include <string.h>

/* The region of the repetitions. */
#define RUN_REGION 1

static _Alignas(CACHE_LINE_SIZE) unsigned char data[CACHE_LINE_SIZE];

static NOINLINE void rewrite_line(uint64_t iters, enum op op)
{
    for (uint64_t i = 0; i < iters; i++) {
        memset(data, (int)i, CACHE_LINE_SIZE);
        COMPILER_BARRIER();
        if (op != OP_NONE)
            op_apply(data, CACHE_LINE_SIZE, op);
    }
}

int main(int argc, char **argv)
{
    uint64_t iters = 10000000;
    int op = OP_NONE;
    static const char *const ops[] = { "none", "clean", "demote", NULL };
    const struct arg args[] = {
        ARG_COUNT_OF("iters", &iters, 1, 1e12, "times the line is rewritten"),
        ARG_CHOICE_OF("op", &op, ops, "pre-store applied to the line after each rewriting"),
    };

    args_parse(argc, argv, "Rewrites one cache line all the time (listing 3).", args, sizeof args / sizeof *args);
    double start = result_now();
    PRESTORE_REGION_BEGIN(RUN_REGION);
    rewrite_line(iters, (enum op)op);
    PRESTORE_REGION_END(RUN_REGION);
    double seconds = result_now() - start;

    result_print("listing3", iters, seconds, data[0] + data[CACHE_LINE_SIZE - 1]);
    return 0;
}
