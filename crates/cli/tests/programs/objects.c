// A list in a pool of libpmemobj, changed by transactions.
#include <libpmemobj.h>
#include <stdint.h>
#include <stdio.h>

struct node {
    PMEMoid next;
    uint64_t value[7];
};
struct root {
    PMEMoid first;
    uint64_t count;
};

int main(int argc, char **argv) {
    PMEMobjpool *pool = argc == 2 ? pmemobj_create(argv[1], "list", PMEMOBJ_MIN_POOL, 0600) : NULL;
    if (pool == NULL)
        return 1;
    PMEMoid base = pmemobj_root(pool, sizeof(struct root));
    struct root *root = pmemobj_direct(base);
    for (uint64_t i = 0; i < 60; i++) {
        TX_BEGIN(pool) {
            pmemobj_tx_add_range(base, 0, sizeof(*root));
            PMEMoid new = pmemobj_tx_zalloc(sizeof(struct node), 1);
            struct node *node = pmemobj_direct(new);
            node->next = root->first;
            node->value[i % 7] = i * i;
            root->first = new;
            root->count++;
            if (i % 9 == 5)
                pmemobj_tx_abort(1);
        }
        TX_END
    }
    printf("%lu\n", root->count);
    pmemobj_close(pool);
    return 0;
}
