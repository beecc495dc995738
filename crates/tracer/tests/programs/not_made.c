/* Threads and processes that the kernel refuses to make, and then some that it makes. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char stack[65536] __attribute__((aligned(16)));

static void *
nothing(void *argument)
{
    return argument;
}

int
main(void)
{
    /* A thread that is alone in a namespace of users cannot be. */
    unsigned long refused = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_NEWUSER;
    struct clone_args arguments;
    memset(&arguments, 0, sizeof(arguments));
    arguments.flags = refused;
    arguments.stack = (unsigned long)stack;
    arguments.stack_size = sizeof(stack);
    for (int i = 0; i < 3; i++) {
        long made = syscall(SYS_clone, refused, stack + sizeof(stack), NULL, NULL, 0);
        printf("clone: %ld, %d\n", made, errno);
        made = syscall(SYS_clone3, &arguments, sizeof(arguments));
        printf("clone3: %ld, %d\n", made, errno);
    }
    /* Nor one without handlers in common, and then its maker changes its own. */
    long made = syscall(SYS_clone, CLONE_VM | CLONE_FS | CLONE_NEWUSER | SIGCHLD, stack + sizeof(stack), NULL, NULL, 0);
    printf("clone: %ld, %d\n", made, errno);
    signal(SIGUSR1, SIG_IGN);
    for (int i = 0; i < 12; i++) {
        pthread_t thread;
        int status = 0;
        pthread_create(&thread, NULL, nothing, NULL);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            _exit(i);
        waitpid(child, &status, 0);
        pthread_join(thread, NULL);
        printf("child %d\n", WEXITSTATUS(status));
    }
    return 0;
}
