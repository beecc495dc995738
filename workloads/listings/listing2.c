/* Listing 2 of the paper (its section 4.2): a write, reads that hit the L1 cache, then a fence. */
#include "../../include/prestore_region.h"
#include "../common/args.h"
#include "../common/attributes.h"
#include "../common/memory.h"
#include "../common/op.h"
#include "../common/prng.h"
#include "../common/result.h"

#include <string.h>

/* The paper's machine B has lines of 128 bytes; an element is one of them. */
#define ELEMENT_SIZE 128
/* The region of the repetitions. */
#define RUN_REGION 1
#define L1_WORDS 1024
/* Reads between two looks at where the words end; divides their number. */
#define GROUP 8

enum fence { FENCE_FULL, FENCE_ATOMIC };
static const char *const FENCES[] = { "full", "atomic", NULL };

static uint64_t l1_data[L1_WORDS];
static uint64_t fence_word;

static NOINLINE void write_element(char *element, int byte)
{
    memset(element, byte, ELEMENT_SIZE);
}

/* Reads the same words round and round; little but loads, as the listing means it. */
static NOINLINE uint64_t read_l1(uint64_t reads)
{
    const uint64_t *word = l1_data;
    uint64_t sum = 0;

    for (; reads >= GROUP; reads -= GROUP) {
#pragma GCC unroll 8
        for (size_t i = 0; i < GROUP; i++)
            sum += word[i];
        word += GROUP;
        if (word == l1_data + L1_WORDS)
            word = l1_data;
    }
    for (; reads > 0; reads--)
        sum += *word++;
    return sum;
}

static void fence(enum fence kind)
{
    if (kind == FENCE_ATOMIC)
        __atomic_fetch_add(&fence_word, 1, __ATOMIC_SEQ_CST);
    else
#if defined(__x86_64__)
        /* The compiler may spell a fence as a locked instruction; the paper's listing means this one. */
        __asm__ __volatile__("mfence" : : : "memory");
#else
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

int main(int argc, char **argv)
{
    uint64_t elements = 512 << 10, iters = 1000000, warmup = 0, reads = 8, seed = 1;
    int op = OP_NONE, kind = FENCE_FULL;
    static const char *const ops[] = { "none", "clean", "demote", NULL };
    const struct arg args[] = {
        ARG_COUNT_OF("elements", &elements, 1, UINT32_MAX, "elements of 128 bytes in the array"),
        ARG_COUNT_OF("iters", &iters, 1, 1e12, "repetitions of write, reads, fence"),
        ARG_COUNT_OF("warmup", &warmup, 0, 1e12, "repetitions before those"),
        ARG_COUNT_OF("reads", &reads, 0, 1e9, "reads of L1-resident data between the write and the fence"),
        ARG_COUNT_OF("seed", &seed, 0, 1e18, "seed of the random order"),
        ARG_CHOICE_OF("fence", &kind, FENCES, "a fence instruction, or an atomic addition"),
        ARG_CHOICE_OF("op", &op, ops, "pre-store applied to each element written"),
    };

    args_parse(argc, argv, "Writes one random element, reads from L1, then executes a fence (listing 2).", args,
               sizeof args / sizeof *args);
    char *array = memory_fresh(elements * ELEMENT_SIZE);
    struct prng prng = prng_new(seed, 0);
    uint64_t checksum = 0;
    for (size_t i = 0; i < L1_WORDS; i++)
        l1_data[i] = prng_next(&prng);

    double start = 0;
    for (uint64_t i = 0; i < warmup + iters; i++) {
        if (i == warmup) {
            start = result_now();
            PRESTORE_REGION_BEGIN(RUN_REGION);
        }
        char *element = array + prng_below(&prng, elements) * ELEMENT_SIZE;
        write_element(element, (int)i);
        if (op != OP_NONE)
            op_apply(element, ELEMENT_SIZE, (enum op)op);
        checksum += read_l1(reads);
        fence((enum fence)kind);
    }
    PRESTORE_REGION_END(RUN_REGION);
    double seconds = result_now() - start;

    result_print("listing2", iters, seconds, checksum);
    memory_release(array, elements * ELEMENT_SIZE);
    return 0;
}
