/* Processes that share their memory with the one that began them are killed, wherever they are just then, and that
 * one goes on: with code that it has not executed yet, threads, forks, handlers and more such processes. With a second argument a
 * process elsewhere kills them; "at once", most of them before they execute anything. */
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

enum { STACK = 65536, PAGE = 4096, ROUNDS = 60 };

/* Executes functions of its own, each for the first time, without end. */
static int
works(void *page)
{
    for (;;) {
        unsigned char *code = page;
        for (int at = 0; at + 16 <= PAGE; at += 16)
            memcpy(code + at, "\xb8\x07\x00\x00\x00\xeb\x00\xc3", 8);
        for (int at = 0; at + 16 <= PAGE; at += 16)
            ((int (*)(void))(code + at))();
    }
}

static void *
nothing(void *unused)
{
    return unused;
}

/* What needs all that the killed one may have held. */
static void
go_on(void *page)
{
    pthread_t thread;
    unsigned char *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, "\xb8\x07\x00\x00\x00\xc3", 6);
    if (((int (*)(void))code)() != 7 || pthread_create(&thread, NULL, nothing, NULL) != 0)
        abort();
    pthread_join(thread, NULL);
    munmap(code, PAGE);
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    signal(SIGUSR1, SIG_IGN);
    mprotect(page, PAGE, PROT_READ);
    mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
}

/* To the process elsewhere. */
static int killer = -1;
static int at_once;

static void
is_killed(pid_t pid)
{
    if (killer >= 0 && write(killer, &pid, sizeof(pid)) == sizeof(pid))
        return;
    if (!at_once)
        usleep((useconds_t)rand() % 3000);
    kill(pid, SIGKILL);
}

static int
is_killed_and_awaited(pid_t pid)
{
    int status = 0;
    is_killed(pid);
    while (waitpid(pid, &status, at_once ? WNOHANG : 0) == 0) {
    }
    return status;
}

static void
begin_killer(void)
{
    int ends[2];
    pid_t pid;
    if (pipe(ends) != 0 || fork() != 0) {
        close(ends[0]);
        killer = ends[1];
        return;
    }
    close(ends[1]);
    while (read(ends[0], &pid, sizeof(pid)) == sizeof(pid))
        is_killed(pid);
    _exit(0);
}

/* The children are to wait for the processor that their parent has, while the killer has another or comes first. */
static void
share_processor(void)
{
    cpu_set_t all, one;
    int first = 0;
    sched_getaffinity(0, sizeof(all), &all);
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof(one), &one);
}

static void *
kills(void *child)
{
    while (*(volatile pid_t *)child == 0)
        usleep(100);
    is_killed(*(volatile pid_t *)child);
    return NULL;
}

static void *volatile shared;
static volatile pid_t of_vfork;

int
main(int argc, char **argv)
{
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int flags = argc < 2 || strcmp(argv[1], "handlers") == 0 ? CLONE_VM | CLONE_SIGHAND : CLONE_VM;
    int status, killed = 0;
    at_once = argc > 2 && strcmp(argv[2], "at once") == 0;
    if (argc > 2)
        begin_killer();
    if (at_once) {
        share_processor();
        /* What kills is not to take long the first time. */
        pid_t pid = fork();
        for (; pid == 0;)
            pause();
        is_killed_and_awaited(pid);
    }
    for (int i = 0; i < ROUNDS; i++) {
        if (argc > 1 && strcmp(argv[1], "vfork") == 0) {
            pthread_t killer;
            of_vfork = 0;
            pthread_create(&killer, NULL, kills, (void *)&of_vfork);
            pid_t pid = vfork();
            if (pid == 0) {
                of_vfork = getpid();
                works(shared);
            }
            pthread_join(killer, NULL);
            waitpid(pid, &status, 0);
        } else {
            pid_t pid = clone(works, stack + STACK, flags | SIGCHLD, shared);
            status = is_killed_and_awaited(pid);
        }
        killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        go_on(shared);
    }
    printf("%d killed\n", killed);
    return 0;
}
