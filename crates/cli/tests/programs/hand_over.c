/* hand_over WAY POOL: one thread or process stores, and another one flushes what it stored once it has been told, in each way there is to
 * tell it. DEFECT: one part is flushed by nobody. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARTS = 40, LINES = 8, WORDS = LINES * 8, SIZE = 1 << 16, LOST = 20 };

static uint64_t *pool;
static enum { BARRIER, CONDITION, SEMAPHORE, PIPE, FLAG, PAUSE, RING, THREAD, CHILD, CHILD_PIPE, TEAM, WAYS } way;
static const char *const names[] = { "barrier", "condition", "semaphore", "pipe", "flag", "pause", "ring",
                                     "thread", "child", "child-pipe", "team" };
static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t made_one, took_one;
static int there[2], back[2], made = -1, took = -1;
static atomic_int flag = -1, answer = -1;

__attribute__((noipa)) static void
fill(int part)
{
    for (int i = 0; i < WORDS; i++)
        pool[part * WORDS + i] = part * 1000 + i + 1; /* stored */
}

__attribute__((noipa)) static void
persist(int part)
{
    if (DEFECT && part == LOST)
        return;
    for (int i = 0; i < LINES; i++)
        _mm_clwb(pool + part * WORDS + i * 8);
    _mm_sfence();
}

static void
look(atomic_int *at, int value)
{
    while (atomic_load_explicit(at, memory_order_acquire) < value) {
        if (way == PAUSE)
            _mm_pause();
    }
}

static void
send(int to)
{
    char byte = 0;
    if (write(to, &byte, 1) != 1)
        abort();
}

static void
receive(int from)
{
    char byte;
    if (read(from, &byte, 1) != 1)
        abort();
}

static void *
make(void *unused)
{
    for (int part = 0; part < PARTS; part++) {
        fill(part);
        switch (way) {
        case BARRIER: pthread_barrier_wait(&barrier); break;
        case CONDITION:
            pthread_mutex_lock(&mutex);
            made = part;
            pthread_cond_broadcast(&condition);
            while (took < part)
                pthread_cond_wait(&condition, &mutex);
            pthread_mutex_unlock(&mutex);
            break;
        case SEMAPHORE:
            sem_post(&made_one);
            sem_wait(&took_one);
            break;
        case PIPE:
        case CHILD_PIPE:
            send(there[1]);
            receive(back[0]);
            break;
        default:
            atomic_store_explicit(&flag, part, memory_order_release);
            look(&answer, way == RING ? part - 4 : part);
        }
    }
    return NULL;
}

static void *
take(void *unused)
{
    for (int part = 0; part < PARTS; part++) {
        switch (way) {
        case BARRIER: pthread_barrier_wait(&barrier); break;
        case CONDITION:
            pthread_mutex_lock(&mutex);
            while (made < part)
                pthread_cond_wait(&condition, &mutex);
            took = part;
            pthread_cond_broadcast(&condition);
            pthread_mutex_unlock(&mutex);
            break;
        case SEMAPHORE: sem_wait(&made_one); break;
        case PIPE:
        case CHILD_PIPE: receive(there[0]); break;
        default: look(&flag, part);
        }
        persist(part);
        if (way == SEMAPHORE)
            sem_post(&took_one);
        else if (way == PIPE || way == CHILD_PIPE)
            send(back[1]);
        else if (way >= FLAG)
            atomic_store_explicit(&answer, part, memory_order_release);
    }
    return NULL;
}

static void *
fill_one(void *part)
{
    fill((int)(intptr_t)part);
    return NULL;
}

/* Each thread flushes what its neighbour stored. */
static void
team(void)
{
    for (int part = 0; part < PARTS; part += 2) {
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < 2; i++)
            fill(part + i);
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < 2; i++)
            persist(part + (i + 1) % 2);
    }
}

int
main(int argc, char **argv)
{
    int file = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ftruncate(file, SIZE) != 0 || pipe(there) != 0 || pipe(back) != 0)
        return 2;
    pool = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    while (way < WAYS && strcmp(names[way], argv[1]) != 0)
        way++;
    pthread_barrier_init(&barrier, NULL, 2);
    sem_init(&made_one, 0, 0);
    sem_init(&took_one, 0, 0);
    pthread_t other;
    switch (way) {
    case THREAD:
        for (int part = 0; part < PARTS; part++) {
            pthread_create(&other, NULL, fill_one, (void *)(intptr_t)part);
            pthread_join(other, NULL);
            persist(part);
        }
        return 0;
    case CHILD:
        for (int part = 0; part < PARTS; part++) {
            if (fork() == 0) {
                fill(part);
                _exit(0);
            }
            wait(NULL);
            persist(part);
        }
        return 0;
    case CHILD_PIPE:
        if (fork() == 0) {
            make(NULL);
            _exit(0);
        }
        take(NULL);
        return 0;
    case TEAM: team(); return 0;
    case WAYS: return 2;
    default:
        pthread_create(&other, NULL, make, NULL);
        take(NULL);
        pthread_join(other, NULL);
        return 0;
    }
}
