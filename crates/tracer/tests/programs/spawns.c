/* Threads that start programs at the same time, each after names that are not there: a child that looks for its program
 * is a thread of this process while others begin. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { THREADS = 5, ROUNDS = 40 };

extern char **environ;

static void *
spawn(void *number)
{
    char *args[] = { "true", NULL };
    long good = 0;
    for (int i = 0; i < ROUNDS; i++) {
        pid_t child;
        const char *name = i % 10 == 9 ? "true" : "nobody-has-this";
        int status, error = posix_spawnp(&child, name, NULL, NULL, args, environ);
        if (i % 10 != 9)
            good += error == ENOENT;
        else
            good += error == 0 && waitpid(child, &status, 0) == child && status == 0;
    }
    return (void *)good;
}

int
main(void)
{
    pthread_t thread[THREADS];
    long good = 0;
    setenv("PATH", "/nowhere/1:/nowhere/2:/nowhere/3:/nowhere/4:/usr/bin:/bin:/nowhere/5", 1);
    for (long t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, spawn, (void *)t);
    for (int t = 0; t < THREADS; t++) {
        void *result;
        pthread_join(thread[t], &result);
        good += (long)result;
    }
    printf("%ld of %d\n", good, THREADS * ROUNDS);
    return good != THREADS * ROUNDS;
}
