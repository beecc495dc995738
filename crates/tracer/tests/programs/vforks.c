/* What children do in their parents' memory, while another thread forks, too; and how the parents end meanwhile. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 65536, WAYS = 6 };

static char *nothing[] = { "false", NULL };
static volatile int seen, begun, over;

static int
ended(pid_t pid)
{
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

/* In a child that shares its parent's memory. */
static void
does(int way)
{
    pid_t pid = -1;
    if (way == 5)
        execve("/nowhere", nothing, environ);
    if (way == 2 && posix_spawn(&pid, "/bin/false", NULL, NULL, nothing, environ) != 0)
        abort();
    if (way == 3 || way == 4)
        pid = vfork();
    else if (way != 2)
        pid = fork();
    if (pid == 0) {
        if (way == 1 || way == 4) {
            execve("/nowhere", nothing, environ);
            execve("/bin/false", nothing, environ);
        }
        _exit(10 + way);
    }
    seen = ended(pid);
}

static int
on_own_stack(void *way)
{
    does(*(int *)way);
    does(*(int *)way);
    return 7;
}

static void *
forks(void *unused)
{
    while (!over) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(0);
        ended(pid);
        usleep(1000);
    }
    return unused;
}

static void
children(void)
{
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, forks, NULL);
    for (int way = 0; way < WAYS; way++) {
        pid_t pid = vfork();
        if (pid == 0) {
            on_own_stack(&way);
            _exit(8);
        }
        int status = ended(pid);
        printf("%d: %x, %x\n", way, status, seen);
        status = ended(clone(on_own_stack, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, &way));
        printf("%d: %x, %x\n", way, status, seen);
    }
    over = 1;
    pthread_join(thread, NULL);
}

/* Its child takes its time. */
static volatile int parent_ends;

static void *
vforks(void *unused)
{
    pid_t process = getpid(), pid = vfork();
    if (pid == 0) {
        begun = 1;
        usleep(100000);
        /* However long the parent takes to end, on a busy machine. */
        for (int i = 0; i < 1000 && parent_ends && getppid() == process; i++)
            usleep(10000);
        _exit(5);
    }
    printf("its child: %x\n", ended(pid));
    fflush(stdout);
    return unused;
}

static void
parent(const char *ends)
{
    pthread_t thread;
    parent_ends = strcmp(ends, "exit") == 0 || strcmp(ends, "signal") == 0;
    pthread_create(&thread, NULL, vforks, NULL);
    while (!begun)
        usleep(1000);
    if (strcmp(ends, "exit") == 0)
        exit(3);
    if (strcmp(ends, "signal") == 0)
        raise(SIGTERM);
    if (strcmp(ends, "first") == 0)
        pthread_exit(NULL);
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(0);
        ended(pid);
    }
    pthread_join(thread, NULL);
}

int
main(void)
{
    static const char *const ends[] = { "exit", "signal", "first", "fork" };
    children();
    fflush(stdout);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        pid_t pid = fork();
        if (pid == 0) {
            parent(ends[i]);
            exit(0);
        }
        printf("%s: %x\n", ends[i], ended(pid));
        fflush(stdout);
        while (wait(NULL) > 0)
            ;
    }
    return 0;
}
