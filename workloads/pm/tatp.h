/* The rows and transactions of TATP (Telecommunication Application Transaction Processing benchmark), and what a
 * transaction does to a row, for a check. */
#ifndef WORKLOADS_TATP_H
#define WORKLOADS_TATP_H

#include "../common/prng.h"

#define FACILITIES 4 /* special facilities of a subscriber, and kinds of access */
#define STARTS 3     /* at 0, 8 and 16 o'clock */

/* Calls from one of the hours on go to another number. */
struct forwarding {
    uint64_t present; /* the rest is of no meaning until it is 1 */
    uint64_t end;
    uint64_t number[2];
};

struct facility {
    uint64_t active, data;
    uint64_t unused[2];
    struct forwarding forwardings[STARTS];
};

/* A subscriber with all rows of the other tables that are the subscriber's. */
struct subscriber {
    uint64_t id, number, bits, msc_location, vlr_location;
    uint64_t unused[3];
    uint64_t access[FACILITIES];
    uint64_t unused_too[4];
    struct facility facilities[FACILITIES];
};

/* Those that only read come first. */
enum transaction_kind {
    GET_SUBSCRIBER_DATA,
    GET_NEW_DESTINATION,
    GET_ACCESS_DATA,
    UPDATE_SUBSCRIBER_DATA,
    UPDATE_LOCATION,
    INSERT_CALL_FORWARDING,
    DELETE_CALL_FORWARDING,
};

struct transaction {
    enum transaction_kind kind;
    uint64_t subscriber; /* the how manieth of those that are the thread's */
    uint64_t facility, start, end, value;
};

struct transaction transaction_draw(struct prng *prng, uint64_t subscribers);

/* The row before any transaction. */
struct subscriber subscriber_first(uint64_t seed, uint64_t id);

uint64_t subscriber_sum(const struct subscriber *subscriber);

/* Does to a row in volatile memory what the transaction has to do. */
void transaction_expect(const struct transaction *transaction, struct subscriber *subscriber);

/* Answers what differs, or NULL. */
const char *subscriber_differs(const struct subscriber *found, const struct subscriber *expected);

#endif
