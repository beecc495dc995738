/* Nodes that are found by pointers: a node is persistent before what leads to it is. Each defect shows in the line that says
 * so; what the correct twin does has no finding. */
#include "pool.h"

#define NODES 40

typedef struct node {
    volatile long value;
    struct node *volatile next;
    struct node *volatile previous;
} LINE node_t;

/* As small as blocks of allocators are. */
typedef struct {
    volatile long value;
    volatile long key;
} small_t;

typedef struct {
    node_t *volatile head LINE;
    struct {
        volatile long *address;
        long value;
    } log LINE;
    small_t *volatile smalls[2] LINE;
    struct {
        volatile long data;
        volatile long *volatile own;
    } same LINE;
    node_t *volatile last LINE;
    volatile long counts[8] LINE;
    small_t packed[4] LINE;
    small_t *volatile empty LINE;
    small_t filled LINE;
    node_t nodes[NODES];
} pool_t;

#define FLUSH(what) _mm_clwb((void *)(what))

/* Changes a word that was persistent before: its address is logged while the change before it is not persistent. */
static void
change(pool_t *pool, volatile long *word, long value)
{
    pool->log.value = *word;
    pool->log.address = word;
    FLUSH(&pool->log);
    _mm_sfence();
    *word = value;
}

__attribute__((noipa)) static void
push(pool_t *pool, node_t *node, long value)
{
    node->value = value; /* stored */
    node->next = pool->head;
    if (HAS(NONE) || HAS(FENCED_TWICE)) {
        FLUSH(node);
        _mm_sfence();
    }
    pool->head = node; /* pointer */
    if (HAS(MISSING_FENCE))
        FLUSH(node); /* by the same fence: whichever comes first, none is known to */
    FLUSH(&pool->head);
    _mm_sfence();
    if (HAS(ORDERING)) {
        FLUSH(node);
        _mm_sfence();
    }
    /* What was persistent may be changed while pointers to it become so. */
    if (node->next != NULL && !HAS(MISSING_FLUSH)) {
        node->next->previous = node;
        pool->last = node->next;
        FLUSH(&pool->last);
        _mm_sfence();
        FLUSH(node->next);
        _mm_sfence();
    }
}

__attribute__((noipa)) static void
others(pool_t *pool)
{
    /* Twice the same word, in one transaction. */
    pool->counts[0] = 1;
    FLUSH(pool->counts);
    _mm_sfence();
    change(pool, &pool->counts[0], 2);
    change(pool, &pool->counts[0], 3);
    FLUSH(pool->counts);
    _mm_sfence();
    /* A neighbour in the line of what is pointed to. */
    pool->packed[0].value = 1;
    FLUSH(&pool->packed[0]);
    _mm_sfence();
    pool->packed[1].value = 2;
    pool->smalls[0] = &pool->packed[0];
    FLUSH(pool->smalls);
    _mm_sfence();
    FLUSH(&pool->packed[1]);
    _mm_sfence();
    /* Nothing but zeros, which are there already. */
    pool->packed[2].value = 0;
    pool->smalls[1] = &pool->packed[2];
    FLUSH(pool->smalls);
    _mm_sfence();
    FLUSH(&pool->packed[2]);
    _mm_sfence();
    /* In one line. */
    pool->same.own = &pool->same.data;
    pool->same.data = 7;
    FLUSH(&pool->same);
    _mm_sfence();
    /* Another pointer is stored behind the flush: the fence does not make that persistent. */
    pool->smalls[0] = &pool->packed[0];
    _mm_clflush((void *)pool->smalls);
    pool->packed[3].value = 5;
    pool->smalls[0] = &pool->packed[3];
    _mm_sfence();
    FLUSH(&pool->packed[3]);
    _mm_sfence();
    FLUSH(pool->smalls);
    _mm_sfence();
    /* Two flushes that are ordered by themselves, with a fence behind both. */
    node_t *node = &pool->nodes[NODES - 1];
    node->value = 1;
    pool->head = node;
    _mm_clflush((void *)&pool->head);
    _mm_clflush((void *)node);
    _mm_sfence();
    /* What is empty is filled behind the flush that publishes it, and needs no fence. */
    pool->empty = &pool->filled;
    _mm_clflush((void *)&pool->empty);
    pool->filled.value = 3;
    _mm_sfence();
    FLUSH(&pool->filled);
    _mm_sfence();
}

/* What a system call has written is as if it were stored there. */
__attribute__((noipa)) static void
push_read(pool_t *pool, node_t *node)
{
    const long five = 5;
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], &five, sizeof(five)) != sizeof(five))
        _exit(1);
    if (read(ends[0], (void *)&node->value, sizeof(five)) != sizeof(five)) /* read */
        _exit(1);
    pool->head = node;
    FLUSH(&pool->head);
    _mm_sfence();
    FLUSH(node);
    _mm_sfence();
}

int
main(int argc, char **argv)
{
    pool_t *pool = map_pool(argv[argc - 1], sizeof(*pool));
    if (HAS(READ)) {
        push_read(pool, &pool->nodes[0]);
        _exit(0);
    }
    for (long i = 0; i + 1 < NODES; i++)
        push(pool, &pool->nodes[i], i + 1);
    if (HAS(NONE))
        others(pool);
    /* What exit() does has locks, and those are fences. */
    _exit(0);
}
