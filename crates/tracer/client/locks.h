/* Locks across a fork. */
#ifndef PRESTORE_LOCKS_H
#define PRESTORE_LOCKS_H

/* In a forked child: `lock`, or a new one where a thread of the parent, which the child does not have, held it. */
void *lock_in_child(void *lock);

#endif
