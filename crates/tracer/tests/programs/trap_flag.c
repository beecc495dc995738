/* Has the processor stop it behind each of some instructions. */
#include <signal.h>
#include <stdio.h>

static volatile int stops;

static void
on_stop(int sig)
{
    (void)sig;
    stops++;
}

int
main(void)
{
    puts("before");
    fflush(stdout);
    signal(SIGTRAP, on_stop);
    __asm__ volatile("pushf\n\torl $0x100, (%%rsp)\n\tpopf\n\tnop\n\tnop\n\t"
                     "pushf\n\tandl $~0x100, (%%rsp)\n\tpopf" ::: "memory", "cc");
    return stops == 0;
}
