/* Messages from one to another: `messages threads`, `messages processes`, `messages file PATH` (processes that map a file each). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 64, WORDS = 128, MESSAGES = 20000 };

struct slot {
    _Atomic uint64_t turn;
    char pad[56];
    uint64_t data[WORDS];
};

static struct slot *
map(int file)
{
    int flags = MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0);
    struct slot *ring = mmap(NULL, sizeof(*ring) * SLOTS, PROT_READ | PROT_WRITE, flags, file, 0);
    if (ring == MAP_FAILED)
        exit(1);
    return ring;
}

static struct slot *
slot_of(struct slot *ring, uint64_t number, uint64_t turn)
{
    struct slot *slot = &ring[number % SLOTS];
    while (atomic_load(&slot->turn) != 2 * (number / SLOTS) + turn)
        sched_yield();
    return slot;
}

static __attribute__((noinline)) void
send_message(struct slot *ring, uint64_t number)
{
    struct slot *slot = slot_of(ring, number, 0);
    for (int i = 0; i < WORDS; i++)
        slot->data[i] = number * 31 + i; /* message */
    atomic_fetch_add(&slot->turn, 1);
}

static void *
receive_all(void *ring)
{
    uint64_t sum = 0;
    for (uint64_t number = 0; number < MESSAGES; number++) {
        struct slot *slot = slot_of(ring, number, 1);
        for (int i = 0; i < WORDS; i++)
            sum += slot->data[i];
        atomic_fetch_add(&slot->turn, 1);
    }
    printf("%llu\n", (unsigned long long)sum);
    fflush(stdout);
    return NULL;
}

static void
send_all(struct slot *ring)
{
    for (uint64_t number = 0; number < MESSAGES; number++)
        send_message(ring, number);
}

int
main(int count, char **args)
{
    int file = count > 2 ? open(args[2], O_RDWR | O_CREAT, 0600) : -1;
    if (count < 2 || (file >= 0 && ftruncate(file, sizeof(struct slot) * SLOTS) != 0))
        return 2;
    struct slot *ring = map(file);
    if (strcmp(args[1], "threads") == 0) {
        pthread_t reader;
        pthread_create(&reader, NULL, receive_all, ring);
        send_all(ring);
        return pthread_join(reader, NULL);
    }
    if (fork() == 0) {
        receive_all(file < 0 ? ring : map(file));
        _exit(0);
    }
    send_all(ring);
    int status;
    wait(&status);
    return status;
}
