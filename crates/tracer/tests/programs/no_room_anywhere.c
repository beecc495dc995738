/* Signals of all origins whose handlers' stack cannot be written: how the child ends that they come to. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOM = 65536 };

/* What brings the signal, and where SIGSEGV is handled. */
enum { DIVISION, INSTRUCTION, BUS, TRAP, TIMER, SENT, QUEUED, ORIGINS };
enum { NOT, IN_ITS_PLACE, ON_THE_SAME, IGNORED, BLOCKED, WAYS };
static const int signals[] = { SIGFPE, SIGILL, SIGBUS, SIGTRAP, SIGALRM, SIGUSR1, 40 };

static void
handle(int sig)
{
    _exit(sig == SIGSEGV ? 8 : 9);
}

static void
on(int sig, void (*handler)(int), int flags)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
    sigaction(sig, &action, NULL);
}

static volatile int zero;
static volatile long spins;

static void
bring(int origin)
{
    struct itimerval soon = { .it_value = { .tv_usec = 20000 } };
    union sigval value = { 0 };
    switch (origin) {
    case DIVISION: spins = 7 / zero; break;
    case INSTRUCTION: __asm__ volatile("ud2"); break;
    case BUS:
        spins = *(volatile char *)mmap(NULL, ROOM, PROT_READ, MAP_SHARED, memfd_create("empty", 0), 0);
        break;
    case TRAP: __asm__ volatile("int3"); break;
    case TIMER:
        setitimer(ITIMER_REAL, &soon, NULL);
        for (;;)
            spins++;
    case SENT: kill(getpid(), SIGUSR1); break;
    case QUEUED: sigqueue(getpid(), signals[QUEUED], value); break;
    }
}

static void
child(int origin, int way, int protection)
{
    char *stack = mmap(NULL, ROOM, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t alternative = { .ss_sp = stack, .ss_size = ROOM };
    sigaltstack(&alternative, NULL);
    if (way == IGNORED)
        on(SIGSEGV, SIG_IGN, 0);
    else if (way != NOT)
        on(SIGSEGV, handle, way == ON_THE_SAME ? SA_ONSTACK : 0);
    if (way == BLOCKED) {
        sigset_t mask;
        sigemptyset(&mask);
        sigaddset(&mask, SIGSEGV);
        sigprocmask(SIG_BLOCK, &mask, NULL);
    }
    on(signals[origin], handle, SA_ONSTACK);
    bring(origin);
    _exit(7);
}

int
main(void)
{
    static char line[100];
    setvbuf(stdout, line, _IOLBF, sizeof(line));
    for (int i = 0; i < ORIGINS * WAYS * 2; i++) {
        int status, origin = i / 2 / WAYS, way = i / 2 % WAYS;
        pid_t pid = fork();
        if (pid == 0)
            child(origin, way, i % 2 == 0 ? PROT_NONE : PROT_READ);
        waitpid(pid, &status, 0);
        printf("%d, %d, %d: %s %d\n", origin, way, i % 2, WIFSIGNALED(status) ? "killed by" : "ended with",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    return 0;
}
