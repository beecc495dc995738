/* Processes that fault with the signal ignored, or blocked: in code, in a thread, and where no code is. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int zero;

static void *
write_nowhere(void *argument)
{
    *(volatile int *)argument = 1;
    return argument;
}

static void
handled(int signal)
{
    (void)signal;
    _exit(1);
}

static void
fault(int how, int blocked)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };
    pthread_t thread;
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        signal(signals[i], blocked ? handled : SIG_IGN);
    if (blocked)
        sigprocmask(SIG_BLOCK, &all, NULL);
    switch (how) {
    case 0: write_nowhere(NULL); break;
    case 1:
        pthread_create(&thread, NULL, write_nowhere, NULL);
        pthread_join(thread, NULL);
        break;
    case 2: __asm__ volatile("idivl %0" : : "r"(zero), "a"(1), "d"(0)); break;
    case 3: __asm__ volatile("ud2"); break;
    case 4: __asm__ volatile("int3"); break;
    case 5: ((void (*)(void))8)(); break;
    case 6: *(volatile int *)0x8000000000000000 = 1; break;
    case 7:
        raise(SIGSEGV);
        kill(getpid(), SIGFPE);
        break;
    }
    _exit(2);
}

int
main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int blocked = 0; blocked < 2; blocked++) {
        for (int how = 0; how < 8; how++) {
            int status = 0;
            pid_t child = fork();
            if (child == 0)
                fault(how, blocked);
            waitpid(child, &status, 0);
            printf("%d %d: signal %d, exit %d\n", blocked, how, WTERMSIG(status), WEXITSTATUS(status));
        }
    }
    return 0;
}
