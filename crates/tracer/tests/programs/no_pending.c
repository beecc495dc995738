/* Forks and ends while other threads run, where no signal that tells of its sender may be pending. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long counted;

static void *
counts(void *none)
{
    for (;;)
        counted++;
    return none;
}

int
main(void)
{
    struct rlimit none = { 0, 0 };
    setrlimit(RLIMIT_SIGPENDING, &none);
    /* Who may exceed it is not held to it. */
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return 1;
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, counts, NULL);
    for (int i = 0; i < 5; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            _exit(7);
        waitpid(child, &status, 0);
        printf("child %#x\n", status);
    }
    puts("end");
    return 3;
}
