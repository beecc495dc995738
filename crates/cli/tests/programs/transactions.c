/* A persistent list of libpmemobj: DEFECT 0 none, 1 the count is not in the transaction, 2 a sum that is
 * stored outside of one is not persisted. `transactions check POOL` recovers. */
#include <libpmemobj.h>
#include <stdbool.h>
#include <string.h>

#ifndef DEFECT
#define DEFECT 0
#endif

POBJ_LAYOUT_BEGIN(list);
POBJ_LAYOUT_ROOT(list, struct root);
POBJ_LAYOUT_TOID(list, struct node);
POBJ_LAYOUT_END(list);

struct node {
    uint64_t key;
    TOID(struct node) next;
};

struct root {
    uint64_t count;
    uint64_t unused[7];
    TOID(struct node) head;
    uint64_t sum;
    uint64_t unused_too[7];
    uint64_t sum_is_valid;
};

static bool
is_right(PMEMobjpool *pool)
{
    const struct root *root = D_RO(POBJ_ROOT(pool, struct root));
    uint64_t nodes = 0, sum = 0;
    TOID(struct node) at = root->head;
    for (; !TOID_IS_NULL(at) && nodes <= root->count; at = D_RO(at)->next) {
        nodes++;
        sum += D_RO(at)->key;
    }
    return nodes == root->count && (root->sum_is_valid == 0 || root->sum == sum);
}

__attribute__((noipa)) static void
push(PMEMobjpool *pool, uint64_t key)
{
    TOID(struct root) root = POBJ_ROOT(pool, struct root);
    TX_BEGIN(pool) {
        TX_ADD_FIELD(root, head);
        if (DEFECT != 1)
            TX_ADD_FIELD(root, count);
        TOID(struct node) node = TX_NEW(struct node);
        D_RW(node)->key = key;
        D_RW(node)->next = D_RO(root)->head;
        D_RW(root)->head = node;
        D_RW(root)->count++; /* no TX_ADD */
    } TX_END
}

__attribute__((noipa)) static void
sum_up(PMEMobjpool *pool)
{
    struct root *root = D_RW(POBJ_ROOT(pool, struct root));
    root->sum = 1 + 2 + 3; /* no persist */
    if (DEFECT != 2)
        pmemobj_persist(pool, &root->sum, sizeof(root->sum));
    /* Far enough to be in another line. */
    root->sum_is_valid = 1;
    pmemobj_persist(pool, &root->sum_is_valid, sizeof(root->sum_is_valid));
}

int
main(int argc, char **argv)
{
    const char *path = argv[argc - 1];
    bool checks = argc == 3 && strcmp(argv[1], "check") == 0;
    PMEMobjpool *pool = checks ? pmemobj_open(path, "list")
                               : pmemobj_create(path, "list", PMEMOBJ_MIN_POOL, 0600);
    if (pool == NULL)
        return 2;
    bool right = true;
    if (checks) {
        right = is_right(pool);
    } else {
        POBJ_ROOT(pool, struct root);
        for (uint64_t key = 1; key <= 3; key++)
            push(pool, key);
        sum_up(pool);
    }
    pmemobj_close(pool);
    return right ? 0 : 1;
}
