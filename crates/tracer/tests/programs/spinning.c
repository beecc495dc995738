/* Loops that make no system call and never leave the code cache until a signal ends them. The
 * argument says which. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t ticks;
static volatile uint64_t words[4096];

static void on_alarm(int signal)
{
    ticks++;
}

static void arm(int first_us, int every_us)
{
    struct itimerval timer = { { 0, every_us }, { 0, first_us } };
    struct sigaction action = { .sa_handler = on_alarm };
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* One signal, once: lost is lost. */
static void wait_once(void)
{
    for (int i = 0; i < 5; i++) {
        int before = ticks;
        arm(20000, 0);
        while (ticks == before)
            ;
    }
}

/* The same, of blocks with many accesses. */
static void write_once(void)
{
    for (int i = 0; i < 5; i++) {
        int before = ticks;
        arm(20000, 0);
        while (ticks == before) {
            for (int at = 0; at < 4096; at += 8) {
                words[at] += 1;
                words[at + 1] += words[at];
                words[at + 2] += words[at + 1];
                words[at + 3] += words[at + 2];
            }
        }
    }
}

/* A profiler's timer. */
static void count_ticks(void)
{
    arm(1000, 1000);
    while (ticks < 100)
        words[ticks & 4095]++;
    arm(0, 0);
}

static void *spin(void *started)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    *(volatile int *)started = 1;
    for (;;)
        words[0]++;
    return NULL;
}

/* Cancelled in a loop that looks at nothing. */
static void cancel(int times)
{
    for (int i = 0; i < times; i++) {
        volatile int started = 0;
        pthread_t thread;
        void *result = NULL;
        pthread_create(&thread, NULL, spin, (void *)&started);
        while (!started)
            usleep(100);
        usleep(20000);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED)
            puts("not cancelled");
    }
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "wait") == 0)
        wait_once();
    else if (strcmp(way, "write") == 0)
        write_once();
    else if (strcmp(way, "ticks") == 0)
        count_ticks();
    else if (strcmp(way, "cancel") == 0)
        cancel(5);
    else if (strcmp(way, "cancel_often") == 0)
        cancel(150);
    else
        return 2;
    printf("%s: done\n", way);
    return 0;
}
