/* The first thread ends long before the other, which goes on storing. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile long memory[4096];

static void *work(void *arg)
{
    usleep(200000);
    for (long round = 0; round < 300; round++)
        for (int i = 0; i < 4096; i++)
            memory[i] += round;
    puts("done");
    exit(6);
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_exit(NULL);
}
