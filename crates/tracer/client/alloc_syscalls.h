/* Memory that the program takes from the kernel and gives back. */
#ifndef PRESTORE_ALLOC_SYSCALLS_H
#define PRESTORE_ALLOC_SYSCALLS_H

void alloc_syscalls_init(void);
void alloc_syscalls_exit(void);

#endif
