/* The program's limit on the size of files (RLIMIT_FSIZE) is not one on the client's. */
#ifndef PRESTORE_FILE_LIMIT_H
#define PRESTORE_FILE_LIMIT_H

#include <signal.h>
#include <sys/resource.h>

typedef struct file_limit {
    struct rlimit limit;
    sigset_t mask;
    int pending; /* was there a signal for a file too large already? */
} file_limit_t;

/* Until `file_limit_restore`, which takes what this kept, files grow as far as may be, and one that may not
 * does not end the program. */
void file_limit_raise(file_limit_t *kept);

void file_limit_restore(const file_limit_t *kept);

#endif
