/* One thread stores, another makes it persistent, turn by turn under a lock. */
#include <pthread.h>
#include <sched.h>

#include "pool.h"

#define ROUNDS 200

typedef struct {
    volatile long value;
} LINE cell_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long turn;
static cell_t *cells;

static long
wait_for(long parity)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        if (turn % 2 == parity)
            return turn / 2;
        pthread_mutex_unlock(&lock);
        sched_yield();
    }
}

static void *
writer(void *unused)
{
    for (long i = 0; i < ROUNDS; i++) {
        long at = wait_for(0);
        cells[at].value = at + 1; /* missing-flush */
        turn++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *
persister(void *unused)
{
    for (long i = 0; i < ROUNDS; i++) {
        long at = wait_for(1);
        if (!HAS(MISSING_FLUSH) || at != ROUNDS / 2) {
            _mm_clwb(&cells[at]);
            _mm_sfence();
        }
        turn++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int
main(int argc, char **argv)
{
    pthread_t threads[2];
    cells = map_pool(argv[argc - 1], ROUNDS * sizeof(cell_t));
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, persister, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
