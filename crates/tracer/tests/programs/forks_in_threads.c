/* Threads with thread-local destructors come and go, a timer interrupts every 2 ms, and threads fork. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKERS = 4, FORKS = 12, ROUNDS = 40, EACH = 4 };

static pthread_key_t key;
static volatile int destroyed, ticks;

static void
destroy(void *p)
{
    free(p);
    __sync_fetch_and_add(&destroyed, 1);
}

static void
tick(int sig)
{
    ticks++;
}

static void *
short_lived(void *unused)
{
    char *p = malloc(100);
    memset(p, 1, 100);
    pthread_setspecific(key, p);
    return NULL;
}

static void *
forker(void *unused)
{
    long good = 0;
    for (int i = 0; i < FORKS; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            pthread_t t;
            if (pthread_create(&t, NULL, short_lived, NULL) != 0)
                _exit(1);
            pthread_join(t, NULL);
            _exit(7);
        }
        int status = -1;
        while (waitpid(pid, &status, 0) < 0)
            ;
        good += WIFEXITED(status) && WEXITSTATUS(status) == 7;
    }
    return (void *)good;
}

int
main(void)
{
    struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
    sigaction(SIGALRM, &action, NULL);
    pthread_key_create(&key, destroy);
    struct itimerval every = { { 0, 2000 }, { 0, 2000 } };
    setitimer(ITIMER_REAL, &every, NULL);
    pthread_t forkers[FORKERS];
    for (int i = 0; i < FORKERS; i++)
        pthread_create(&forkers[i], NULL, forker, NULL);
    for (int r = 0; r < ROUNDS; r++) {
        pthread_t t[EACH];
        for (int i = 0; i < EACH; i++)
            pthread_create(&t[i], NULL, short_lived, NULL);
        for (int i = 0; i < EACH; i++)
            pthread_join(t[i], NULL);
    }
    long good = 0;
    for (int i = 0; i < FORKERS; i++) {
        void *result;
        pthread_join(forkers[i], &result);
        good += (long)result;
    }
    printf("%d destroyed, %ld children\n", destroyed, good);
    return good == FORKERS * FORKS && destroyed == ROUNDS * EACH ? 0 : 1;
}
