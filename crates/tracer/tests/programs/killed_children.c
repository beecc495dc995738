/* Children that share their parent's memory end by a signal that nobody handles, of their own or from a process elsewhere;
 * the parent goes on, with what needs the others to be where it thinks they are. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 65536, OUTSIDE = 64, ROUNDS = 20 };

/* The child's number, where a process elsewhere sees it: once the child has been through its loop, whose code is known by then,
 * and is about to sleep there for long.  One that is killed earlier may hold what the parent needs. */
static volatile pid_t *victim;

static void
waits(void)
{
    pid_t self = getpid();
    for (int i = 0;; i++) {
        *victim = i < ROUNDS ? 0 : self;
        usleep(i < ROUNDS ? 1000 : 60 * 1000 * 1000);
    }
}

static int
sleeps(pid_t pid)
{
    char name[64], text[256] = "";
    snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(name, "r");
    if (file == NULL || fread(text, 1, sizeof(text) - 1, file) == 0)
        abort();
    fclose(file);
    return strstr(text, ") S ") != NULL;
}

static int
ends(void *how)
{
    int signal = *(int *)how;
    if (signal >= OUTSIDE)
        waits();
    if (signal == SIGSEGV)
        *(volatile int *)8 = 1;
    raise(signal);
    waits();
    return 0;
}

static void *
nothing(void *unused)
{
    return unused;
}

static void
go_on(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    if (system("exit 3") != 3 << 8)
        abort();
}

/* A process elsewhere that sends the signal. */
static pid_t
sender(int signal)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    while (*victim == 0 || !sleeps(*victim))
        usleep(100);
    kill(*victim, signal);
    _exit(0);
}

int
main(void)
{
    static const int ways[] = { SIGTERM, SIGSEGV, SIGABRT, SIGKILL, OUTSIDE + SIGTERM, OUTSIDE + SIGKILL };
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    victim = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int flags = CLONE_VM; flags != 0; flags = flags == CLONE_VM ? CLONE_VM | CLONE_VFORK : 0) {
        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            int way = ways[i], status;
            *victim = 0;
            pid_t other = way >= OUTSIDE ? sender(way - OUTSIDE) : 0;
            pid_t pid = clone(ends, stack + STACK, flags | SIGCHLD, &way);
            if (other != 0)
                waitpid(other, NULL, 0);
            waitpid(pid, &status, 0);
            printf("%s ended by %d\n", flags == CLONE_VM ? "process" : "vfork", WTERMSIG(status));
            fflush(stdout);
            go_on();
        }
    }
    return 0;
}
