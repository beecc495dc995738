/* Signals that faults raise, sent to the process while all of its threads block them, before the thread that takes them looks: waits,
 * looks at what is pending, reads a descriptor, or lets them in. What is sent to one thread is not for another. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAITS, LOOKS, READS, LETS_IN, SUSPENDS, NOTHING, WAYS = NOTHING };
static const int faults[] = { SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGTRAP };
enum { FAULTS = sizeof(faults) / sizeof(faults[0]) };

static sigset_t all;
static int descriptor, way;
static pthread_barrier_t barrier;
static pid_t other;

static void
handler(int signal, siginfo_t *info, void *context)
{
    (void)context;
    printf("%s handled %d, code %d\n", gettid() == other ? "the other" : "the first", signal, info->si_code);
}

static void
look(const char *who)
{
    sigset_t pending;
    sigpending(&pending);
    printf("%s finds", who);
    for (int i = 1; i < 32; i++) {
        if (sigismember(&pending, i))
            printf(" %d", i);
    }
    printf("\n");
}

static void
take(const char *who)
{
    const struct timespec now = { 0, 0 };
    siginfo_t info = { 0 };
    int got = sigtimedwait(&all, &info, &now);
    printf("%s took %d, code %d, of %s\n", who, got, info.si_code, info.si_pid == getpid() ? "itself" : "another");
}

static void
let_in(void)
{
    sigset_t none, before;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void
take_by(int how)
{
    struct signalfd_siginfo info = { 0 };
    sigset_t none;
    int signal = 0;
    switch (how) {
    case WAITS:
        sigwait(&all, &signal);
        printf("the other waited for %d\n", signal);
        break;
    case LOOKS:
        look("the other");
        look("the other");
        take("the other");
        break;
    case READS:
        printf("%zd: ", read(descriptor, &info, sizeof(info)));
        printf("the other read %u, code %d\n", info.ssi_signo, info.ssi_code);
        break;
    case LETS_IN: let_in(); break;
    case SUSPENDS:
        sigemptyset(&none);
        sigsuspend(&none);
        break;
    case NOTHING:
        look("the other");
        take("the other");
    }
}

static void *
takes(void *none)
{
    other = gettid();
    for (;;) {
        pthread_barrier_wait(&barrier);
        if (way < 0)
            return none;
        take_by(way);
        pthread_barrier_wait(&barrier);
    }
}

static void
let_the_other(int how)
{
    way = how;
    pthread_barrier_wait(&barrier);
    if (how >= 0)
        pthread_barrier_wait(&barrier);
}

int
main(void)
{
    pthread_t thread;
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
    setvbuf(stdout, NULL, _IONBF, 0);
    sigfillset(&all);
    sigdelset(&all, SIGCHLD);
    sigdelset(&all, SIGALRM);
    sigprocmask(SIG_BLOCK, &all, NULL);
    alarm(60);
    for (int i = 0; i < FAULTS; i++)
        sigaction(faults[i], &action, NULL);
    descriptor = signalfd(-1, &all, SFD_NONBLOCK);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, takes, NULL);
    for (int i = 0; i < FAULTS; i++) {
        for (int how = 0; how < WAYS; how++) {
            kill(getpid(), faults[i]);
            kill(getpid(), faults[i]);
            let_the_other(how);
            look("the first");

            pid_t parent = getpid(), child = fork();
            if (child == 0) {
                look("the child");
                kill(parent, faults[i]);
                _exit(0);
            }
            waitpid(child, NULL, 0);
            let_the_other(how);
        }
        sigqueue(getpid(), faults[i], (union sigval){ .sival_int = 42 });
        let_the_other(WAITS);
        raise(faults[i]);
        let_the_other(NOTHING);
        take("the first");
        kill(getpid(), faults[i]);
        let_in();
    }
    let_the_other(-1);
    pthread_join(thread, NULL);
    return 0;
}
