/* Counts the instructions a program executes by stepping through it, a line `thread T instructions N` each, in the order
 * in which the threads started: an independent check of the counts in the .expect files. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_THREADS 64

struct thread {
    pid_t id;
    uint64_t last, instructions;
};

static struct thread threads[MAX_THREADS];
static int thread_count;

static struct thread *thread_of(pid_t id)
{
    for (int i = 0; i < thread_count; i++) {
        if (threads[i].id == id)
            return &threads[i];
    }
    if (thread_count == MAX_THREADS) {
        fprintf(stderr, "step_count: more than %d threads\n", MAX_THREADS);
        exit(1);
    }
    threads[thread_count].id = id;
    return &threads[thread_count++];
}

/* A repeated string instruction stops after each repetition at the same place; it is one instruction. */
static void count_stop(pid_t id)
{
    struct thread *thread = thread_of(id);
    struct user_regs_struct registers;

    if (ptrace(PTRACE_GETREGS, id, 0, &registers) == 0 && registers.rip != thread->last) {
        thread->last = registers.rip;
        thread->instructions++;
    }
}

/* The starter's report of a new thread gives threads their numbers: the new thread's own first stop may come late. */
static int is_clone_report(pid_t starter, int status)
{
    unsigned long started;

    if (status >> 8 != (SIGTRAP | PTRACE_EVENT_CLONE << 8))
        return 0;
    if (ptrace(PTRACE_GETEVENTMSG, starter, 0, &started) == 0)
        thread_of((pid_t)started);
    return 1;
}

/* Returns how the first thread ended. */
static int step_all(pid_t first)
{
    int status, result = 0;
    pid_t id;

    while ((id = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFSTOPPED(status)) {
            if (!is_clone_report(id, status))
                count_stop(id);
            ptrace(PTRACE_SINGLESTEP, id, 0, 0);
        } else if (id == first) {
            result = status;
        }
    }
    return result;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: step_count PROGRAM [ARGUMENT ...]\n");
        return 2;
    }
    pid_t first = fork();
    if (first == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    int status;
    if (first < 0 || waitpid(first, &status, 0) < 0 || !WIFSTOPPED(status)) {
        fprintf(stderr, "step_count: cannot trace %s\n", argv[1]);
        return 1;
    }
    ptrace(PTRACE_SETOPTIONS, first, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
    count_stop(first);
    ptrace(PTRACE_SINGLESTEP, first, 0, 0);
    status = step_all(first);
    for (int i = 0; i < thread_count; i++)
        printf("thread %d instructions %llu\n", i, (unsigned long long)threads[i].instructions);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
