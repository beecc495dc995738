/* The locks of waits.c: how each is taken and given back. */
#ifndef WAITS_LOCKS_H
#define WAITS_LOCKS_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#define APART __attribute__((aligned(128)))

static pthread_mutex_t mutex APART = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin APART;
static atomic_int own APART;
static struct {
    atomic_uint next APART, serving APART;
} ticket;
static pthread_rwlock_t rwlock APART = PTHREAD_RWLOCK_INITIALIZER;
#ifdef _OPENMP
static omp_lock_t omp_lock APART;
#endif

static void take_none(void) {}
static void give_none(void) {}
static void take_mutex(void) { pthread_mutex_lock(&mutex); }
static void give_mutex(void) { pthread_mutex_unlock(&mutex); }
static void take_spin(void) { pthread_spin_lock(&spin); }
static void give_spin(void) { pthread_spin_unlock(&spin); }

static void
pause_cpu(void)
{
    /* The recording machine may have one processor. */
    sched_yield();
}

static void
take_own(void)
{
    while (atomic_exchange_explicit(&own, 1, memory_order_acquire)) {
        while (atomic_load_explicit(&own, memory_order_relaxed))
            pause_cpu();
    }
}

static void give_own(void) { atomic_store_explicit(&own, 0, memory_order_release); }

static void
take_ticket(void)
{
    unsigned mine = atomic_fetch_add_explicit(&ticket.next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&ticket.serving, memory_order_acquire) != mine)
        pause_cpu();
}

static void
give_ticket(void)
{
    unsigned mine = atomic_load_explicit(&ticket.serving, memory_order_relaxed);
    atomic_store_explicit(&ticket.serving, mine + 1, memory_order_release);
}

static void take_write(void) { pthread_rwlock_wrlock(&rwlock); }
static void take_read(void) { pthread_rwlock_rdlock(&rwlock); }
static void give_rw(void) { pthread_rwlock_unlock(&rwlock); }
#ifdef _OPENMP
static void take_omp(void) { omp_set_lock(&omp_lock); }
static void give_omp(void) { omp_unset_lock(&omp_lock); }
#endif

static const struct lock {
    const char *name;
    void (*take)(void), (*give)(void);
} locks[] = {
    { "none", take_none, give_none },      { "mutex", take_mutex, give_mutex },
    { "spin", take_spin, give_spin },      { "own", take_own, give_own },
    { "ticket", take_ticket, give_ticket }, { "write", take_write, give_rw },
    { "read", take_read, give_rw },
#ifdef _OPENMP
    { "omp_lock", take_omp, give_omp },
#endif
};

static const struct lock *lock;

#endif
