/* Transactions of libpmemobj, whose undo log has to have what is there before it is stored to. DEFECT 0 none, else the one whose
 * line says so. */
#include <libpmemobj.h>

#ifndef DEFECT
#define DEFECT 0
#endif

TOID_DECLARE_ROOT(struct root);
TOID_DECLARE(struct node, 1);

struct node {
    uint64_t key;
    TOID(struct node) next;
};

struct root {
    /* One line, as allocations begin 16 bytes behind the beginning of one. */
    TOID(struct node) head;
    uint64_t count, seen, aborted;
    uint64_t unused[8];
    uint64_t sum, other_sum;
};

static PMEMobjpool *pool;
static TOID(struct root) root;

__attribute__((noipa)) static void
begin_with(uint64_t sum)
{
    TX_BEGIN(pool) {
        if (DEFECT != 7)
            TX_ADD_FIELD(root, sum);
        D_RW(root)->sum = sum; /* defect 7: in the first of all */
    } TX_END
}

/* New data needs no undo log, added or not, and neither has what is persistent by itself. */
__attribute__((noipa)) static void
push(uint64_t key)
{
    TX_BEGIN(pool) {
        TX_ADD_FIELD(root, head);
        if (DEFECT != 1)
            TX_ADD_FIELD(root, count);
        TOID(struct node) node = TX_NEW(struct node);
        D_RW(node)->key = key;
        TX_ADD(node);
        D_RW(node)->next = D_RO(root)->head;
        D_RW(root)->head = node;
        D_RW(root)->seen++;
        pmemobj_persist(pool, &D_RW(root)->seen, sizeof(uint64_t));
        D_RW(root)->count++; /* defect 1: beside what was added */
    } TX_END
}

__attribute__((noipa)) static void
count_again(void)
{
    TX_BEGIN(pool) {
        if (DEFECT != 2)
            TX_ADD_FIELD(root, count);
        D_RW(root)->count += 2; /* defect 2: added behind it */
        if (DEFECT == 2)
            TX_ADD_FIELD(root, count);
        TX_BEGIN(pool) {
            if (DEFECT != 3)
                TX_ADD_FIELD(root, seen);
            D_RW(root)->seen = 7; /* defect 3: in a transaction within one */
        } TX_END
        D_RW(root)->count -= 2;
    } TX_END
}

/* What is aborted is left by longjmp, but where there is nowhere to jump to. */
__attribute__((noipa)) static void
abort_and_go_on(void)
{
    TX_BEGIN(pool) {
        TX_SET(root, seen, 8);
        TOID(struct node) node = TX_NEW(struct node);
        D_RW(node)->key = 1;
        pmemobj_tx_abort(1);
    } TX_END
    TX_BEGIN(pool) {
        TX_SET(root, aborted, 1);
        if (DEFECT == 4)
            D_RW(root)->seen = 9; /* defect 4: behind an aborted one */
    } TX_END
    pmemobj_tx_begin(pool, NULL, TX_PARAM_NONE);
    TOID(struct node) lost = TX_NEW(struct node);
    D_RW(lost)->key = 2;
    pmemobj_tx_abort(1);
    pmemobj_tx_end();
    /* This is in none. */
    D_RW(root)->seen = 10;
    pmemobj_persist(pool, &D_RW(root)->seen, sizeof(uint64_t));
}

/* What is made and freed again is gone. */
__attribute__((noipa)) static void
make_in_vain(void)
{
    TX_BEGIN(pool) {
        TOID(struct node) lost = TX_NEW(struct node);
        D_RW(lost)->key = 3;
        TX_FREE(lost);
        if (DEFECT != 8)
            TX_ADD_FIELD(root, other_sum);
        D_RW(root)->other_sum = 8; /* defect 8: where an object is freed */
    } TX_END
}

__attribute__((noipa)) static void
sum_up(void)
{
    TX_BEGIN(pool) {
        if (DEFECT != 5)
            TX_ADD_FIELD(root, sum);
        D_RW(root)->sum = 6; /* defect 5: nothing of its line is added */
    } TX_END
    TX_BEGIN(pool) {
        if (DEFECT != 6)
            TX_ADD_FIELD(root, other_sum);
        D_RW(root)->other_sum = 7; /* defect 6: so too, and flushed later */
    } TX_END
    pmemobj_persist(pool, &D_RW(root)->other_sum, sizeof(uint64_t));
}

int
main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    pool = pmemobj_create(argv[1], "undo_log", PMEMOBJ_MIN_POOL, 0600);
    if (pool == NULL)
        return 2;
    root = POBJ_ROOT(pool, struct root);
    begin_with(1);
    for (uint64_t key = 1; key <= 3; key++)
        push(key);
    count_again();
    abort_and_go_on();
    make_in_vain();
    sum_up();
    pmemobj_close(pool);
    return 0;
}
