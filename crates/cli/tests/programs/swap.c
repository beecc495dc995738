/* Failure-atomic swaps in a persistent array: what is overwritten is in the undo log first. */
#include "pool.h"

#define ELEMENTS 64

typedef struct {
    volatile long value;
} LINE element_t;

typedef struct {
    struct {
        volatile long i, j, at_i, at_j;
    } LINE entry;
    volatile long valid LINE;
    element_t array[ELEMENTS];
} pool_t;

__attribute__((noipa)) static void
swap(pool_t *pool, long i, long j)
{
    element_t *a = &pool->array[i], *b = &pool->array[j];
    pool->entry.i = i;
    pool->entry.j = j;
    pool->entry.at_i = a->value;
    pool->entry.at_j = b->value;
    _mm_clwb(&pool->entry);
    _mm_sfence();
    pool->valid = 1;
    _mm_clwb((void *)&pool->valid);
    _mm_sfence();
    a->value = pool->entry.at_j;
    _mm_clwb(a);
    b->value = pool->entry.at_i; /* missing-flush */
    if (HAS(WRONG_LINE))
        _mm_clwb(a); /* the wrong line */
    else if (!HAS(MISSING_FLUSH))
        _mm_clwb(b);
    if (HAS(ORDERING))
        a->value = pool->entry.at_j; /* ordering */
    _mm_sfence();
    pool->valid = 0; /* missing-fence */
    _mm_clwb((void *)&pool->valid);
    if (!HAS(MISSING_FENCE))
        _mm_sfence();
}

int
main(int argc, char **argv)
{
    pool_t *pool = map_pool(argv[argc - 1], sizeof(*pool));
    for (long i = 0; i < ELEMENTS / 2; i++)
        swap(pool, i, ELEMENTS - 1 - i);
    _exit(0);
}
