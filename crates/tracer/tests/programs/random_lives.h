/* What threads of random_lives.c do that makes no process and no thread: code, memory, signals. Each
 * tells what does not come out as it must. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_THREADS = 16 };

extern char **environ;

typedef struct {
    uint64_t random;
    int depth;
} life_t;

typedef void step_fn(life_t *);

static int wrong, received, sent;
static __thread volatile int handled;
static __thread char *volatile unprotect;
static __thread sigjmp_buf *volatile jump;
static __thread volatile int jumps;
static char *program;

static unsigned
below(life_t *life, unsigned n)
{
    life->random = life->random * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(life->random >> 33) % n;
}

static void
tells(const char *where, const char *what, long a, long b)
{
    __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
    dprintf(2, "%s: not %s: %ld (%#lx), %ld\n", where, what, a, a, b);
}

#define CHECK(condition, a, b)                                 \
    do {                                                       \
        if (!(condition))                                      \
            tells(__func__, #condition, (long)(a), (long)(b)); \
    } while (0)

static void
on_count(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info, (void)context;
    __atomic_add_fetch(&received, 1, __ATOMIC_SEQ_CST);
}

static void
on_own(int sig)
{
    (void)sig;
    handled++;
}

static void
on_timer(int sig)
{
    (void)sig;
}

static void
on_fault(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    if (jump != NULL)
        siglongjmp(*jump, 1);
    if (unprotect == NULL || (char *)info->si_addr < unprotect || (char *)info->si_addr >= unprotect + PAGE) {
        signal(sig, SIG_DFL); /* sent to a child, or an error */
        raise(sig);
        return;
    }
    mprotect(unprotect, PAGE, PROT_READ | PROT_WRITE);
}

static void
code(life_t *life)
{
    unsigned char text[] = { 0xb8, 0, 0, 0, 0, 0xc3 };
    unsigned pages = 1 + below(life, 3);
    char *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 4; i++) {
        uint32_t value = below(life, 1 << 30);
        char *where = at + below(life, pages * PAGE - sizeof(text));
        memcpy(text + 1, &value, sizeof(value));
        if (below(life, 2)) {
            mprotect(at, pages * PAGE, PROT_READ | PROT_WRITE);
            memcpy(where, text, sizeof(text));
            mprotect(at, pages * PAGE, PROT_READ | PROT_EXEC);
        } else {
            mprotect(at, pages * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
            memcpy(where, text, sizeof(text));
        }
        uint32_t got = ((uint32_t(*)(void))where)();
        CHECK(got == value, got, value);
    }
    munmap(at, pages * PAGE);
}

static void
faults(life_t *life)
{
    char *at = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned place = below(life, PAGE - 64);
    unprotect = at;
    memset(at + place, 5, 1 + below(life, 64));
    CHECK(at[place] == 5, at[place], 5);
    unprotect = NULL;
    mprotect(at, PAGE, below(life, 2) ? PROT_NONE : PROT_READ);
    sigjmp_buf back;
    int before = jumps;
    if (sigsetjmp(back, 1) == 0) {
        jump = &back;
        *(volatile char *)at = 1;
    } else
        jumps++;
    jump = NULL;
    CHECK(jumps == before + 1, jumps, before);
    munmap(at, PAGE);
}

static void
own_signals(life_t *life)
{
    sigset_t one, old, pending;
    int before = handled, times = 1 + (int)below(life, 3);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, &old);
    for (int i = 0; i < times; i++)
        pthread_kill(pthread_self(), SIGUSR1);
    sigpending(&pending);
    CHECK(handled == before && sigismember(&pending, SIGUSR1), handled, before);
    if (below(life, 2)) {
        int sig = 0;
        sigwait(&one, &sig);
        CHECK(sig == SIGUSR1, sig, 0);
        before--;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    CHECK(handled == before + 1, handled, before + 1);
}

static pthread_t all[MOST_THREADS];
static int threads;

static void
others_signals(life_t *life)
{
    if (life->depth > 0)
        return; /* in a child, or a thread that is not one of them */
    __atomic_add_fetch(&sent, 1, __ATOMIC_SEQ_CST);
    if (pthread_kill(all[below(life, (unsigned)threads)], SIGRTMIN + 3) != 0)
        __atomic_sub_fetch(&sent, 1, __ATOMIC_SEQ_CST);
}

static void
grows(life_t *life)
{
    size_t pages = 1 + below(life, 20);
    unsigned char *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < pages; i++)
        at[i * PAGE] = (unsigned char)i;
    at = mremap(at, pages * PAGE, (pages + 30) * PAGE, MREMAP_MAYMOVE);
    size_t bad = 0;
    for (size_t i = 0; i < pages + 30; i++)
        bad += at[i * PAGE] != (i < pages ? (unsigned char)i : 0);
    CHECK(bad == 0, bad, pages);
    munmap(at, (pages + 30) * PAGE);
}

static void
opens_libraries(life_t *life)
{
    if (life->depth > 0)
        return; /* what another thread had half loaded at a fork stays so in the child */
    static const char *names[] = { "libm.so.6", "libutil.so.1", "libresolv.so.2" };
    void *library = dlopen(names[below(life, 3)], RTLD_NOW);
    CHECK(library != NULL, 0, 0);
    if (library != NULL)
        dlclose(library);
}

static void
timers(life_t *life)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
    struct itimerspec soon = { { 0, 0 }, { 0, 1000 + (long)below(life, 300000) } };
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return;
    timer_settime(timer, 0, &soon, NULL);
    for (volatile unsigned i = 100000 + below(life, 400000); i > 0; i--)
        ;
    timer_delete(timer);
}

static void
allocates(life_t *life)
{
    char *blocks[16];
    for (int i = 0; i < 16; i++) {
        size_t bytes = 1 + below(life, 200000);
        blocks[i] = malloc(bytes);
        memset(blocks[i], i, bytes);
    }
    for (int i = 0; i < 16; i++) {
        CHECK(blocks[i][0] == i, blocks[i][0], i);
        free(blocks[i]);
    }
}

static void
yields(life_t *life)
{
    struct timespec little = { 0, (long)below(life, 300000) };
    nanosleep(&little, NULL);
    sched_yield();
}
