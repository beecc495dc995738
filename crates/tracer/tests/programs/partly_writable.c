/* Alternate stacks of which a part cannot be written: the frame's end lies in there, or its middle. The kernel raises SIGSEGV
 * instead of the signal, whose handler has a stack that is whole. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 16, STEP = 256 };

static volatile int usual, faults, where;

static void
on_signal(int signal)
{
    usual += signal == SIGUSR1;
}

static void
on_fault(int signal, siginfo_t *about, void *context)
{
    (void)signal;
    (void)context;
    faults++;
    where += about->si_code == SI_KERNEL && about->si_addr == NULL;
}

int
main(void)
{
    char *room = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction usual_action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
    struct sigaction fault_action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
    sigaction(SIGUSR1, &usual_action, NULL);
    sigaction(SIGSEGV, &fault_action, NULL);
    for (int page = PAGES - 4; page < PAGES; page++) {
        mprotect(room + page * PAGE, PAGE, PROT_READ);
        for (int top = (PAGES - 4) * PAGE; top <= PAGES * PAGE; top += STEP) {
            stack_t stack = { .ss_sp = room, .ss_size = (size_t)top };
            usual = faults = where = 0;
            if (sigaltstack(&stack, NULL) != 0)
                return 1;
            kill(getpid(), SIGUSR1);
            printf("%d %x: %d %d %d\n", page, top, usual, faults, where);
        }
        mprotect(room + page * PAGE, PAGE, PROT_READ | PROT_WRITE);
    }
    return 0;
}
