/* Message passing as the paper's section 7.3.2: a producer fills reused message structures and publishes each with a
 * compare-and-swap right after; a consumer reads them. The structures are the slots, or, with --copy, the producer's
 * own, as with the X9 library: messages are copied into a slot between two atomics, and out of it. */
#include "../../include/prestore_region.h"
#include "../common/args.h"
#include "../common/memory.h"
#include "../common/op.h"
#include "../common/result.h"
#include "../common/team.h"
#include "inbox.h"

#include <stdio.h>
#include <time.h>

/* The region of one message's making: from its first word to its publication. */
#define MESSAGE_REGION 1

struct exchange {
    struct inbox inbox;
    uint64_t messages;
    int op, measure_latency, copy;
    struct message *own; /* the producer's, with copy */
    uint64_t structures;
    uint64_t checksum, latency_ns;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static NOINLINE void fill_msg(struct message *message, uint64_t sequence, uint64_t sent_ns)
{
    uint64_t word = sequence * UINT64_C(0x9e3779b97f4a7c15);

    message->sequence = sequence;
    message->sent_ns = sent_ns;
#pragma GCC unroll 10
    for (int i = 0; i < MESSAGE_WORDS; i++) {
        word += word >> 7;
        message->payload[i] = word;
    }
}

static NOINLINE uint64_t read_msg(const struct message *message)
{
    uint64_t sum = message->sequence;

#pragma GCC unroll 10
    for (int i = 0; i < MESSAGE_WORDS; i++)
        sum = (sum << 1 | sum >> 63) ^ message->payload[i];
    return sum;
}

static void producer_fn(struct exchange *exchange)
{
    for (uint64_t i = 0; i < exchange->messages; i++) {
        struct slot *slot = inbox_acquire(&exchange->inbox, i);
        struct message *message = exchange->copy ? &exchange->own[i % exchange->structures] : &slot->message;
        PRESTORE_REGION_BEGIN(MESSAGE_REGION);
        fill_msg(message, i, exchange->measure_latency ? now_ns() : 0);
        if (exchange->op != OP_NONE)
            op_apply(message, sizeof *message, (enum op)exchange->op);
        if (exchange->copy)
            copy_to_inbox(&exchange->inbox, slot, message);
        else
            write_to_inbox(slot);
        PRESTORE_REGION_END(MESSAGE_REGION);
    }
}

static void consumer_fn(struct exchange *exchange)
{
    uint64_t checksum = 0, latency_ns = 0;
    struct message copied;

    for (uint64_t i = 0; i < exchange->messages; i++) {
        struct slot *slot = inbox_await(&exchange->inbox, i);
        const struct message *message = exchange->copy ? &copied : &slot->message;
        if (exchange->copy)
            copy_from_inbox(&exchange->inbox, slot, &copied);
        if (exchange->measure_latency)
            latency_ns += now_ns() - message->sent_ns;
        checksum += read_msg(message);
        if (!exchange->copy)
            free_slot(slot);
    }
    exchange->checksum = checksum;
    exchange->latency_ns = latency_ns;
}

static void run(void *context, uint64_t thread)
{
    if (thread == 0)
        producer_fn(context);
    else
        consumer_fn(context);
}

int main(int argc, char **argv)
{
    static struct exchange exchange = { .structures = 1 };
    uint64_t slots = 64, messages = 1000000;
    static const char *const ops[] = { "none", "clean", "demote", NULL };
    const struct arg args[] = {
        ARG_COUNT_OF("slots", &slots, 1, 1e6, "message slots of the ring, of 256 bytes and a state each"),
        ARG_COUNT_OF("messages", &messages, 1, 1e12, "messages sent"),
        ARG_CHOICE_OF("latency", &exchange.measure_latency, ARG_NO_YES, "also report the mean one-way latency"),
        ARG_CHOICE_OF("copy", &exchange.copy, ARG_NO_YES, "copy messages of the producer's own into slots, and out of them"),
        ARG_COUNT_OF("structures", &exchange.structures, 1, 1e8, "messages of the producer's own, used in turn, with copy"),
        ARG_CHOICE_OF("op", &exchange.op, ops, "pre-store applied to each message filled"),
    };

    args_parse(argc, argv, "A producer sends messages to a consumer through a ring of reused slots.", args,
               sizeof args / sizeof *args);
    exchange.inbox = inbox_new(slots);
    if (exchange.copy)
        exchange.own = memory_fresh(exchange.structures * sizeof *exchange.own);
    exchange.messages = messages;

    double start = result_now();
    team_run(2, run, &exchange);
    double seconds = result_now() - start;

    result_print("ring", messages, seconds, exchange.checksum);
    if (exchange.measure_latency)
        printf("ring: mean_latency_ns=%.1f\n", (double)exchange.latency_ns / (double)messages);
    return 0;
}
