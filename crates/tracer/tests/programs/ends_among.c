/* Ends while its other threads write faster than anybody reads what they write. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile unsigned long counted[4][8];

static void *
counts(void *counter)
{
    for (;;)
        ++*(volatile unsigned long *)counter;
    return counter;
}

int
main(void)
{
    pthread_t thread;
    for (int i = 0; i < 4; i++)
        pthread_create(&thread, NULL, counts, (void *)counted[i]);
    usleep(200000);
    puts("end");
    return 3;
}
