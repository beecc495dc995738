/* A persistent linked list: a node is persistent before the list's head leads to it. Each defect shows
 * in the line that says so. */
#include "pool.h"

#define NODES 100

typedef struct {
    volatile long value;
    volatile long next; /* number of a node, from 1; 0: none */
} LINE node_t;

typedef struct {
    volatile long head LINE;
    volatile long spare LINE;
    node_t nodes[NODES];
} list_t;

__attribute__((noipa)) static void
push(list_t *list, long number, long value)
{
    node_t *node = &list->nodes[number - 1];
    node->value = value;
    node->next = list->head;
    _mm_clwb(node);
    _mm_sfence();
    if (HAS(FENCED_TWICE))
        _mm_sfence(); /* redundant-fence */
    list->head = number; /* missing-flush, missing-fence */
    if (!HAS(MISSING_FLUSH))
        _mm_clwb((void *)&list->head);
    if (HAS(FLUSHED_TWICE))
        _mm_clwb((void *)&list->head); /* flushed twice */
    if (HAS(CLEAN_FLUSH))
        _mm_clwb((void *)&list->spare); /* flushed though clean */
    if (HAS(ORDERING))
        list->head = number; /* ordering */
    if (!HAS(MISSING_FENCE))
        _mm_sfence();
}

int
main(int argc, char **argv)
{
    list_t *list = map_pool(argv[argc - 1], sizeof(*list));
    for (long i = 1; i <= NODES; i++)
        push(list, i, i * i);
    /* What exit() does has locks, and those are fences. */
    _exit(0);
}
