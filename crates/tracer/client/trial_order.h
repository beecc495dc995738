/* Keeps the program's stores in their order, which non-temporal ones do not keep by themselves.
 *
 * While a process has one thread and shares no memory that it writes, nobody sees the order: a fence
 * before each system call is enough. From then on each store that is not non-temporal, and each
 * non-temporal one of another group, comes behind a fence where non-temporal ones are pending. Atomics
 * and fences of the program drain them by themselves, and so does what makes the kernel run. */
#ifndef PRESTORE_TRIAL_ORDER_H
#define PRESTORE_TRIAL_ORDER_H

#include "regs.h"
#include "thread.h"

/* What is known to be pending at a place in a block: ORDER_UNKNOWN, ORDER_NOTHING or stores of a group. */
typedef uint order_t;
#define ORDER_UNKNOWN (~0u)
#define ORDER_NOTHING 0u

/* Inserts before `instr` what order asks for there. `group`: of the non-temporal stores that it is made
 * one of; 0: it is as the program has it. */
void trial_order(at_t *at, regs_t *regs, order_t *known, uint group);

void trial_order_before_syscall(void *drcontext, int number);

#endif
