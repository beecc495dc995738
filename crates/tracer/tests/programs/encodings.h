/* For programs of odd encodings: memory that they change, what a fault of theirs was, sums. A fault goes on where R15 says. */
#ifndef ENCODINGS_H
#define ENCODINGS_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

unsigned char area[1024] __attribute__((aligned(64)));
static volatile int signal_of, code_of;

static void
on_fault(int signal, siginfo_t *info, void *context)
{
    signal_of = signal;
    code_of = info->si_code;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] = ((ucontext_t *)context)->uc_mcontext.gregs[REG_R15];
}

static uint64_t
sum(const void *of, size_t size)
{
    const unsigned char *bytes = of;
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * 1099511628211u;
    return sum;
}

#endif
