/* What libpmemobj is asked for: room that is added without a copy, as nothing is in it yet, and data that is persisted. DEFECT 0 none, else
 * the one whose line says so. */
#include <libpmemobj.h>

#ifndef DEFECT
#define DEFECT 0
#endif

struct root {
    /* One line, as allocations begin 16 bytes behind the beginning of one. */
    uint64_t used, other, items[4];
    uint64_t unused[8];
    uint64_t alone, unused_too[16], last, unused_as_well[8], more;
};

static struct root *root;

__attribute__((noipa)) static void
append(PMEMobjpool *pool, uint64_t item)
{
    TX_BEGIN(pool) {
        pmemobj_tx_add_range_direct(&root->used, sizeof(root->used));
        uint64_t *room = &root->items[root->used];
        if (DEFECT != 1)
            pmemobj_tx_xadd_range_direct(room, sizeof(*room), POBJ_XADD_NO_SNAPSHOT);
        *room = item; /* defect 1: added neither way */
        if (DEFECT == 2)
            root->other = item; /* defect 2: beside what was */
        root->used++;
    } TX_END
}

/* Nobody flushes what is freed again. */
__attribute__((noipa)) static void
make_in_vain(PMEMobjpool *pool)
{
    TX_BEGIN(pool) {
        PMEMoid lost = pmemobj_tx_alloc(512, 1);
        uint64_t *room = pmemobj_direct(lost);
        pmemobj_tx_xadd_range_direct(room + 16, 32 * sizeof(*room), POBJ_XADD_NO_SNAPSHOT);
        room[20] = 1;
        pmemobj_tx_free(lost);
    } TX_END
}

int
main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    PMEMobjpool *pool = pmemobj_create(argv[1], "asked", PMEMOBJ_MIN_POOL, 0600);
    if (pool == NULL)
        return 2;
    root = pmemobj_direct(pmemobj_root(pool, sizeof(struct root)));
    for (uint64_t item = 1; item <= 3; item++)
        append(pool, item);
    make_in_vain(pool);
    root->alone = 1;
    pmemobj_persist(pool, &root->alone, sizeof(root->alone));
    if (DEFECT == 3)
        pmemobj_persist(pool, &root->alone, sizeof(root->alone)); /* defect 3: it is already */
    root->last = 2;
    pmemobj_persist(pool, &root->alone, 32 * sizeof(uint64_t)); /* clean lines with one that is not */
    /* The library stores around the caches; somebody has to fence. */
    pmemobj_memset(pool, &root->more, 3, sizeof(root->more), PMEMOBJ_F_MEM_NODRAIN | PMEMOBJ_F_MEM_NONTEMPORAL);
    pmemobj_persist(pool, &root->more, sizeof(root->more));
    pmemobj_close(pool);
    return 0;
}
