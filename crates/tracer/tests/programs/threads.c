/* 200 threads that come and go, some cancelled, one that ends the process. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long sums[200];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *work(void *arg)
{
    long n = (long)arg;
    for (long i = 0; i < 2000; i++)
        sums[n] += i ^ n;
    pthread_mutex_lock(&lock);
    total += sums[n];
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *wait_for_ever(void *arg)
{
    for (;;)
        pause();
}

static void *work_for_ever(void *arg)
{
    for (volatile long i = 0;; i++) {
        if (i % 1000 == 0)
            pthread_testcancel();
    }
}

static void *end(void *arg)
{
    printf("%ld\n", total);
    exit(5);
}

int main(void)
{
    pthread_t threads[50];
    for (long round = 0; round < 4; round++) {
        for (long i = 0; i < 50; i++)
            pthread_create(&threads[i], NULL, work, (void *)(round * 50 + i));
        for (long i = 0; i < 50; i++)
            pthread_join(threads[i], NULL);
    }
    void *(*bodies[2])(void *) = { wait_for_ever, work_for_ever };
    for (int i = 0; i < 10; i++) {
        void *result;
        pthread_create(&threads[0], NULL, bodies[i % 2], NULL);
        usleep(1000);
        pthread_cancel(threads[0]);
        pthread_join(threads[0], &result);
        printf("cancelled %d\n", result == PTHREAD_CANCELED);
    }
    pthread_create(&threads[1], NULL, wait_for_ever, NULL);
    pthread_create(&threads[0], NULL, end, NULL);
    pause();
    return 0;
}
