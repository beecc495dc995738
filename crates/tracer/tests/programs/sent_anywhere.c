/* Signals of the kinds that instructions raise, sent by another process, arrive anywhere: between any two instructions. What is
 * executed around them is executed once, and their handlers return to it.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGNALS = 1500, WORDS = 512 };

static const int kinds[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPIPE, SIGSTKFLT };
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static _Atomic unsigned handled;
static atomic_bool *enough;
static _Atomic uint64_t counted;
static uint64_t words[WORDS];
static char copied[2][300];

static void on_signal(int number)
{
    (void)number;
    atomic_fetch_add(&handled, 1);
}

/* What cannot be executed twice, or a part of it twice, without being seen. */
__attribute__((noinline)) static uint64_t round_of_work(uint64_t round)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < 40; i++) {
        atomic_fetch_add(&counted, 1);
        words[(round + i * 7) % WORDS] += i;
        sum = sum * 31 + words[(round * 3 + i) % WORDS];
        __asm__ volatile("addq %1, (%0)" : : "r"(words + (sum + i) % WORDS), "r"(round) : "memory");
    }
    memset(copied[0], (int)round, sizeof(copied[0]));
    void *to = copied[1], *from = copied[0];
    size_t bytes = sizeof(copied[0]);
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
    return sum + (uint64_t)copied[1][round % sizeof(copied[1])];
}

static uint64_t work(unsigned until, uint64_t rounds, uint64_t *done)
{
    uint64_t sum = 0;
    uint64_t i = 0;
    memset(words, 0, sizeof(words));
    atomic_store(&counted, 0);
    for (; rounds != 0 ? i < rounds : atomic_load(&handled) < until; i++)
        sum = sum * 1000003 + round_of_work(i);
    *done = i;
    return sum;
}

static void send_all(pid_t whom)
{
    unsigned random = 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (unsigned i = 0; !atomic_load(enough); i++) {
        kill(whom, kinds[i % KINDS]);
        random = random * 1103515245 + 12345;
        for (volatile unsigned wait = 0; wait < (random >> 16) % 3000; wait++)
            ;
    }
    _exit(0);
}

int main(void)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    for (int i = 0; i < KINDS; i++)
        sigaction(kinds[i], &action, NULL);
    enough = mmap(NULL, sizeof(*enough), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (enough == MAP_FAILED)
        return 1;
    pid_t worker = getpid(), sender = fork();
    if (sender == 0)
        send_all(worker);
    uint64_t rounds, again;
    uint64_t disturbed = work(SIGNALS, 0, &rounds);
    uint64_t counted_then = atomic_load(&counted);
    atomic_store(enough, true);
    waitpid(sender, NULL, 0);
    uint64_t undisturbed = work(0, rounds, &again);
    printf("counted: %s\n", counted_then == rounds * 40 ? "each once" : "some twice or not at all");
    printf("computed: %s\n", disturbed == undisturbed ? "the same" : "something else");
    return 0;
}
