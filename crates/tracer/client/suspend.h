/* rt_sigsuspend: a signal that came before it, while it was blocked, ends it. */
#ifndef PRESTORE_SUSPEND_H
#define PRESTORE_SUSPEND_H

/* To be called after the other system call events are registered. */
void suspend_init(void);

#endif
