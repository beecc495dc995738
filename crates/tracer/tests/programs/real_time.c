/* Threads of real-time priority, each of another one and of more of them than there are processors, begin, look at files of
 * the process, fork and end at once. Prints how much went wrong, or that it may not have such priorities. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 60, ROUNDS = 4, LEAST = 1, MOST = 90 };

static int wrong;

static int
with_priority(int priority)
{
    struct sched_param param = { priority };
    return sched_setscheduler(0, SCHED_FIFO, &param);
}

static void *
lives(void *number)
{
    char text[512];
    long n = (long)number;
    int bad = with_priority(LEAST + n * 37 % MOST) != 0;
    for (int i = 0; i < 2; i++) {
        int file = open("/proc/self/stat", O_RDONLY);
        usleep(8);
        sched_yield();
        bad |= read(file, text, sizeof(text)) <= 0;
        close(file);
    }
    free(malloc(n * 100 + 1));
    if (n % 20 == 0) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            _exit(7);
        bad |= waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7;
    }
    if (bad)
        __sync_fetch_and_add(&wrong, 1);
    return NULL;
}

int
main(void)
{
    if (with_priority(LEAST) != 0) {
        puts("not permitted");
        return 0;
    }
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t threads[THREADS];
        for (long n = 0; n < THREADS; n++)
            pthread_create(&threads[n], NULL, lives, (void *)n);
        for (int n = 0; n < THREADS; n++)
            pthread_join(threads[n], NULL);
    }
    printf("%d wrong\n", wrong);
    return 0;
}
