/* The rows of TPC-C that its new-order transaction reads and writes, of one warehouse, and what such a transaction asks for. */
#ifndef WORKLOADS_TPCC_H
#define WORKLOADS_TPCC_H

#include "../common/prng.h"

#include <stddef.h>

#define DISTRICTS 10
#define CUSTOMERS 30 /* of a district; TPC-C has 3000, which are only read here */
#define LEAST_LINES 5
#define MOST_LINES 15

struct district {
    uint64_t next_order; /* from 1 */
    uint64_t tax;        /* in 1/10000, as discounts are */
    uint64_t unused[6];
};

struct stock {
    uint64_t quantity, ytd, orders;
    uint64_t unused;
};

struct order_line {
    uint64_t item, quantity, amount;
    uint64_t unused;
};

/* A row of ORDER, with those of NEW-ORDER and ORDER-LINE that belong to it. */
struct order {
    uint64_t district, id, customer, lines, total, is_new;
    uint64_t unused[2];
    struct order_line line[MOST_LINES];
    uint64_t unused_too[4];
};

/* What a terminal asks for. */
struct new_order {
    uint64_t district, customer, lines;
    struct {
        uint64_t item, quantity;
    } line[MOST_LINES];
    int item_unknown; /* the last one's: the transaction is rolled back */
};

/* Items of the lines differ from each other; there are at least MOST_LINES. */
struct new_order new_order_draw(struct prng *prng, uint64_t items);

/* Tables that are only read are functions of the seed. */
uint64_t price_of(uint64_t seed, uint64_t item);
uint64_t discount_of(uint64_t seed, uint64_t warehouse, uint64_t district, uint64_t customer);
uint64_t tax_of(uint64_t seed, uint64_t warehouse, uint64_t district);
uint64_t quantity_first(uint64_t seed, uint64_t warehouse, uint64_t item);

/* Quantity in stock after so many were ordered. */
uint64_t quantity_after(uint64_t quantity, uint64_t ordered);

/* The rows that a transaction adds. */
struct order order_of(const struct new_order *ask, uint64_t seed, uint64_t warehouse, uint64_t id);

/* Bytes of an order that has so many lines. */
static inline size_t order_bytes(uint64_t lines)
{
    return offsetof(struct order, line) + lines * sizeof(struct order_line);
}

#endif
