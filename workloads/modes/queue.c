/* A persistent queue that several threads insert into and remove from (P1, section 3.2): each operation is one
 * failure-atomic section under the queue's lock. A node's content is not logged, and persistent when the section is. */
#include "../../include/prestore_region.h"
#include "../common/args.h"
#include "../common/result.h"
#include "../common/team.h"
#include "nodes.h"

#include <pthread.h>
#include <stdio.h>

#define KIND UINT64_C(0x6d6f64652d717531)
#define MEASURED_REGION 1
#define MOST_THREADS 8
/* Elements that a thread inserts before it removes as many. */
#define BATCH 16

struct queue {
    uint64_t first, last, inserted, removed;
    uint64_t unused[4];
    uint64_t free;
    uint64_t unused_too[7];
    struct log_space logs[MOST_THREADS];
};

struct run {
    struct pool *pool;
    struct queue *queue;
    struct nodes nodes;
    uint64_t elements, threads;
    pthread_mutex_t lock;
    uint64_t sums[MOST_THREADS];
};

static uint64_t nodes_for(uint64_t threads)
{
    return threads * (BATCH + 1);
}

static struct nodes nodes_of(struct pool *pool, struct queue *queue)
{
    return (struct nodes){ pool, (struct node *)(queue + 1), nodes_for(pool->root->shape[0]), &queue->free };
}

static size_t bytes_of(const uint64_t *shape)
{
    return sizeof(struct queue) + nodes_for(shape[0] < MOST_THREADS ? shape[0] : MOST_THREADS) * sizeof(struct node);
}

static NOINLINE void insert(struct run *run, struct log *log, uint64_t key, uint64_t value)
{
    struct queue *queue = run->queue;
    enum form form = run->pool->form;

    pthread_mutex_lock(&run->lock);
    log_begin(log);
    struct node *node = nodes_take(&run->nodes, log);
    log_store(log, &node->next, 0);
    /* Nobody can reach the node yet, so what it was is not asked for; it lies in one line with the word that the section
     * stored, which the commit makes persistent. */
    put(form, &node->key, key);
    put(form, &node->value, value);
    uint64_t at = pool_offset(run->pool, node);
    if (queue->last == 0)
        log_store(log, &queue->first, at);
    else
        log_store(log, &((struct node *)pool_at(run->pool, queue->last))->next, at);
    log_store(log, &queue->last, at);
    log_store(log, &queue->inserted, queue->inserted + 1);
    log_commit(log);
    pthread_mutex_unlock(&run->lock);
}

static NOINLINE uint64_t remove_first(struct run *run, struct log *log)
{
    struct queue *queue = run->queue;
    uint64_t value = 0;

    pthread_mutex_lock(&run->lock);
    if (queue->first != 0) {
        log_begin(log);
        struct node *node = pool_at(run->pool, queue->first);
        value = node->value;
        log_store(log, &queue->first, node->next);
        if (node->next == 0)
            log_store(log, &queue->last, 0);
        nodes_give(&run->nodes, log, node);
        log_store(log, &queue->removed, queue->removed + 1);
        log_commit(log);
    }
    pthread_mutex_unlock(&run->lock);
    return value;
}

static void work(void *context, uint64_t thread)
{
    struct run *run = context;
    struct log log = log_open(run->pool, &run->queue->logs[thread]);
    uint64_t mine = team_share(run->elements, run->threads, thread), inserted = 0, sum = 0;

    PRESTORE_REGION_BEGIN(MEASURED_REGION);
    while (inserted < mine) {
        uint64_t batch = mine - inserted < BATCH ? mine - inserted : BATCH;
        for (uint64_t i = 0; i < batch; i++, inserted++)
            insert(run, &log, thread << 32 | inserted, inserted + 1);
        for (uint64_t i = 0; i < batch; i++)
            sum += remove_first(run, &log);
    }
    PRESTORE_REGION_END(MEASURED_REGION);
    run->sums[thread] = sum;
}

/* A thread's elements leave in the order in which it inserted them, and every node is in one list. */
static const char *wrong_in(struct pool *pool)
{
    struct queue *queue = (struct queue *)pool->data;
    uint64_t next[MOST_THREADS] = { 0 }, last = 0;

    if (pool->root->shape[0] < 1 || pool->root->shape[0] > MOST_THREADS)
        return "the number of threads";
    for (uint64_t t = 0; t < pool->root->shape[0]; t++)
        if (!log_recover(pool, &queue->logs[t]))
            return "a log names what is not in the pool";
    struct nodes nodes = nodes_of(pool, queue);
    uint64_t length = nodes_in(&nodes, queue->first);
    if (length > nodes.count)
        return "the queue does not end";
    if (length != queue->inserted - queue->removed)
        return "the queue is not as long as was inserted and not removed";
    if (length + nodes_in(&nodes, queue->free) != nodes.count)
        return "a node is lost";
    for (uint64_t at = queue->first; at != 0; at = nodes_at(&nodes, at)->next) {
        const struct node *node = nodes_at(&nodes, at);
        uint64_t thread = node->key >> 32, number = node->key & UINT32_MAX;
        if (thread >= pool->root->shape[0] || node->value != number + 1)
            return "an element is not what was inserted";
        if (next[thread] > number)
            return "a thread's elements are out of order";
        next[thread] = number + 1;
        last = at;
    }
    return last == queue->last ? NULL : "the last element is another";
}

int main(int argc, char **argv)
{
    struct pool_options options = { .file = "" };
    static struct run run = { .elements = 100000, .threads = 2, .lock = PTHREAD_MUTEX_INITIALIZER };
    const struct arg args[] = {
        ARG_COUNT_OF("elements", &run.elements, 1, 1e9, "elements inserted and removed"),
        ARG_COUNT_OF("threads", &run.threads, 1, MOST_THREADS, "threads"),
        POOL_ARGS(&options),
    };

    args_parse(argc, argv, "A persistent queue (P1).", args, sizeof args / sizeof *args);
    if (options.check) {
        struct pool left = pool_left(&options, KIND, bytes_of);
        pool_verdict("modes_queue", wrong_in(&left));
    }
    struct pool pool = pool_make(&options, bytes_of(&run.threads));
    run.pool = &pool;
    run.queue = (struct queue *)pool.data;
    pool.root->shape[0] = run.threads;
    run.nodes = nodes_of(&pool, run.queue);
    nodes_make(&run.nodes);
    pool_publish(&pool, KIND, &run.threads, 1);

    double start = result_now();
    team_run(run.threads, work, &run);
    uint64_t sum = 0;
    for (uint64_t t = 0; t < run.threads; t++)
        sum += run.sums[t];
    result_print("modes_queue", 2 * run.elements, result_now() - start, sum);
    return 0;
}
