/* A thread that goes round by calls and returns, with the address of code that was executed in rbx, takes signals one after the other:
 * each has come before the next is sent. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 2000, PATIENCE = 100000 };

static volatile int taken;
volatile int stop, runs;

static void
take(int signal)
{
    (void)signal;
    taken++;
}

void go_round(void);
__asm__("executed: ret\n"
        "called: ret\n"
        "go_round: push %rbx\n"
        "lea executed(%rip), %rbx\n"
        "call *%rbx\n"
        "movl $1, runs(%rip)\n"
        "1: call called\n"
        "call called\n"
        "cmpl $0, stop(%rip)\n"
        "je 1b\n"
        "pop %rbx\n"
        "ret\n");

static void *
work(void *unused)
{
    go_round();
    return unused;
}

int
main(void)
{
    pthread_t thread;
    signal(SIGURG, take);
    pthread_create(&thread, NULL, work, NULL);
    while (!runs)
        ;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_kill(thread, SIGURG);
        for (int waits = 0; taken <= i; waits++) {
            if (waits == PATIENCE) {
                printf("signal %d does not come\n", i);
                return 1;
            }
            usleep(20);
        }
        usleep((useconds_t)(i % 7 * 13));
    }
    stop = 1;
    pthread_join(thread, NULL);
    printf("%d taken\n", taken);
    return 0;
}
