/* Calls of the kernel by `int $0x80`, whose numbers and structures are those of 32-bit programs. */
#ifndef PRESTORE_INTERRUPTS_H
#define PRESTORE_INTERRUPTS_H

/* Before a system call: ends the program with a message where it is one that the recorder would have to follow. */
void interrupts_before_syscall(int number);

#endif
