/* TATP, a telephone company's home location register: short transactions on subscribers, of which a thread has its own.
 * One word is published or changed at a time where that is enough; two in different rows in a section. */
#include "tables.h"

#include "../common/team.h"
#include "tatp.h"

#include <stdlib.h>

static size_t bytes_of(uint64_t subscribers, uint64_t threads, uint64_t room)
{
    (void)threads, (void)room;
    return subscribers * sizeof(struct subscriber);
}

static void fill(struct tables *tables)
{
    struct subscriber *all = (struct subscriber *)tables->data;

    for (uint64_t i = 0; i < tables->size; i++) {
        struct subscriber first = subscriber_first(tables->seed, i);
        const uint64_t *from = (const uint64_t *)&first;
        uint64_t *to = (uint64_t *)&all[i];
        for (size_t w = 0; w < sizeof first / sizeof *from; w++)
            put(tables->pool.form, &to[w], from[w]);
    }
    persist(tables->pool.form, all, tables->size * sizeof *all);
}

static struct subscriber *subscriber_of(const struct tables *tables, uint64_t thread, uint64_t number)
{
    return (struct subscriber *)tables->data + number * tables->threads + thread;
}

static NOINLINE void update_location(struct log *log, struct subscriber *of, const struct transaction *what)
{
    put(log->pool->form, &of->vlr_location, what->value);
    persist(log->pool->form, &of->vlr_location, sizeof of->vlr_location);
}

static NOINLINE void insert_forwarding(struct log *log, struct forwarding *row, const struct transaction *what)
{
    enum form form = log->pool->form;

    if (row->present)
        return;
    put(form, &row->end, what->end);
    put(form, &row->number[0], what->value);
    put(form, &row->number[1], prng_mix(what->value));
    persist(form, row, sizeof *row);
    put(form, &row->present, 1);
    persist(form, row, sizeof *row);
}

static NOINLINE void delete_forwarding(struct log *log, struct forwarding *row)
{
    if (!row->present)
        return;
    put(log->pool->form, &row->present, 0);
    persist(log->pool->form, row, sizeof *row);
}

static void store(struct log *log, uint64_t *at, uint64_t value)
{
    /* The defect: it is persistent at once, and nothing can undo it. */
    if (DEFECT) {
        put(log->pool->form, at, value);
        persist(log->pool->form, at, sizeof *at);
    } else {
        log_store(log, at, value);
    }
}

static NOINLINE void update_subscriber(struct log *log, struct subscriber *of, const struct transaction *what)
{
    log_begin(log);
    store(log, &of->bits, what->end);
    store(log, &of->facilities[what->facility].data, what->value);
    log_commit(log);
}

static void update(struct tables *tables, uint64_t thread, struct prng *prng, struct log *log, uint64_t done)
{
    struct transaction what = transaction_draw(prng, team_share(tables->size, tables->threads, thread));
    struct subscriber *of = subscriber_of(tables, thread, what.subscriber);
    struct facility *facility = &of->facilities[what.facility];
    volatile uint64_t read = 0;

    if (!log)
        return;
    switch (what.kind) {
    case GET_SUBSCRIBER_DATA:
        read = subscriber_sum(of);
        break;
    case GET_NEW_DESTINATION:
        read = facility->active ? facility->forwardings[what.start].number[0] : 0;
        break;
    case GET_ACCESS_DATA:
        read = of->access[what.facility];
        break;
    case UPDATE_SUBSCRIBER_DATA:
        update_subscriber(log, of, &what);
        break;
    case UPDATE_LOCATION:
        update_location(log, of, &what);
        break;
    case INSERT_CALL_FORWARDING:
        insert_forwarding(log, &facility->forwardings[what.start], &what);
        break;
    case DELETE_CALL_FORWARDING:
        delete_forwarding(log, &facility->forwardings[what.start]);
        break;
    }
    (void)read;
    /* One that only reads is not counted: the next that writes says how many there were. */
    if (what.kind >= UPDATE_SUBSCRIBER_DATA)
        counters_set(tables->pool.form, &tables->sections->counters, thread, done);
}

/* What the transactions of a thread leave in its subscribers. */
static void replay(const struct tables *tables, uint64_t thread, struct prng *prng, struct subscriber *all,
                   int until_one_writes)
{
    struct transaction what;

    do {
        what = transaction_draw(prng, team_share(tables->size, tables->threads, thread));
        transaction_expect(&what, &all[what.subscriber * tables->threads + thread]);
    } while (until_one_writes && what.kind < UPDATE_SUBSCRIBER_DATA);
}

static const char *differs(const struct tables *tables, uint64_t thread, const struct subscriber *all)
{
    const char *wrong = NULL;

    for (uint64_t i = thread; i < tables->size && !wrong; i += tables->threads)
        wrong = subscriber_differs((const struct subscriber *)tables->data + i, &all[i]);
    return wrong;
}

static const char *compare(const struct tables *tables)
{
    struct subscriber *all = malloc(tables->size * sizeof *all);
    const char *wrong = all ? NULL : "no memory for what has to be there";

    for (uint64_t i = 0; i < tables->size && !wrong; i++)
        all[i] = subscriber_first(tables->seed, i);
    for (uint64_t t = 0; t < tables->threads && !wrong; t++) {
        struct prng prng = prng_new(tables->seed, t);
        for (uint64_t left = tables_done(tables, t); left > 0; left--)
            replay(tables, t, &prng, all, 0);
        wrong = differs(tables, t, all);
        if (wrong) {
            replay(tables, t, &prng, all, 1);
            wrong = differs(tables, t, all);
        }
    }
    free(all);
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct tables_program program = {
        .name = "pm_tatp",
        .summary = "TATP: transactions on the subscribers of a telephone company.",
        .kind = UINT64_C(0x706d2d7461747031),
        .size = "subscribers",
        .says = "rows of the table of subscribers",
        .usual = 1000,
        .least = MOST_THREADS,
        .bytes_of = bytes_of,
        .fill = fill,
        .update = update,
        .compare = compare,
    };
    return tables_main(argc, argv, &program);
}
