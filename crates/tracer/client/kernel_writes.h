/* Values: what the kernel writes into the program's memory.
 *
 * By a table of the system calls (kernel_table.h). Of a call that is not in it, or whose effect
 * depends on more (ioctl, fcntl, prctl), what lies behind each of its arguments is compared
 * before and after, and the call is named in the recording. Not by dirty bits of pages, which
 * containers and many kernels do not give, nor by protecting pages, which the program would see in
 * the results of its system calls. */
#ifndef PRESTORE_KERNEL_WRITES_H
#define PRESTORE_KERNEL_WRITES_H

void kernel_writes_init(void);
void kernel_writes_exit(void);

#endif
