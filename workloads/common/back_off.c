#include "back_off.h"

#include <sched.h>
#include <stddef.h>
#include <time.h>

/* Waiting must not execute instructions without end: a traced program would seem to do little but wait. */
#define SPINS 4
#define YIELDS 16
#define SLEEP_NS 20000

void back_off(unsigned attempt)
{
    if (attempt < SPINS)
        return;
    if (attempt < SPINS + YIELDS)
        sched_yield();
    else
        nanosleep(&(struct timespec){ .tv_nsec = SLEEP_NS }, NULL);
}
