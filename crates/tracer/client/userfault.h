/* Memory whose missing pages the program itself provides (userfaultfd). */
#ifndef PRESTORE_USERFAULT_H
#define PRESTORE_USERFAULT_H

#include "dr_api.h"

/* Whether reading [at, at + bytes) may wait for a page that the program has to provide: who reads may be the thread that
 * does it, and each page that is asked for is told to the program, which has not touched it. */
bool userfault_may_wait(uint64 at, uint64 bytes);

/* Behind a system call, on behalf of recording what memory holds. */
void userfault_behind(void *drcontext, int number, const uint64 args[6], uint64 result);

#endif
