/* Values: what memory held before the program stored anything there, so that it can be rebuilt.
 *
 * Written down when memory begins to be writable, not at its first store: every store would have to
 * ask whether it is the first in its page, while mappings are few and the kernel says which are
 * zeros. A writable page of a file costs its bytes once, as the file may have changed when the
 * recording is read; zeros cost a record a range. */
#ifndef PRESTORE_IMAGES_H
#define PRESTORE_IMAGES_H

#include "dr_api.h"

/* All of the program's memory that is writable now: when a process begins, executed or forked. */
void images_process(void *drcontext);

/* Between the begin and the end of a system call. */
typedef struct {
    uint64 begin, end; /* what it may make writable; end 0: nothing */
} images_t;

/* Around the system calls that change what is mapped; `args` as before the call. */
void images_before(void *drcontext, int number, const uint64 args[6], images_t *images);
void images_behind(void *drcontext, int number, const uint64 args[6], uint64 result,
                   const images_t *images);

#endif
