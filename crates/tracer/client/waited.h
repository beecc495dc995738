/* When a thread came back from a system call in which it may have waited for another thread or process: what follows comes behind
 * what that one did before. Recordings with values have the time behind each system call (kernel_writes.c). */
#ifndef PRESTORE_WAITED_H
#define PRESTORE_WAITED_H

void waited_init(void);

#endif
