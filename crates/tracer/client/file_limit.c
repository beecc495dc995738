#define _GNU_SOURCE
#include "file_limit.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The size that the kernel has masks in. */
#define MASK_BYTES 8

/* None of this is the C library's, which hides signals of its own. */
static void
change_mask(int how, const sigset_t *mask, sigset_t *old)
{
    syscall(SYS_rt_sigprocmask, how, mask, old, MASK_BYTES);
}

static bool
is_limited(const file_limit_t *kept)
{
    return kept->limit.rlim_cur != RLIM_INFINITY;
}

void
file_limit_raise(file_limit_t *kept)
{
    if (syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &kept->limit) != 0)
        kept->limit.rlim_cur = RLIM_INFINITY;
    if (!is_limited(kept))
        return;
    sigset_t too_large;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    change_mask(SIG_BLOCK, &too_large, &kept->mask);
    sigset_t pending;
    sigemptyset(&pending);
    syscall(SYS_rt_sigpending, &pending, MASK_BYTES);
    kept->pending = sigismember(&pending, SIGXFSZ) != 0;
    struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
    struct rlimit all = { kept->limit.rlim_max, kept->limit.rlim_max };
    if (syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &none, NULL) != 0)
        syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &all, NULL);
}

void
file_limit_restore(const file_limit_t *kept)
{
    if (!is_limited(kept))
        return;
    syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &kept->limit, NULL);
    /* One of the client's that was too large all the same. Whether it was blocked before does not tell: while a thread begins
     * all are. */
    sigset_t too_large;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    struct timespec now = { 0, 0 };
    if (!kept->pending)
        syscall(SYS_rt_sigtimedwait, &too_large, NULL, &now, MASK_BYTES);
    change_mask(SIG_SETMASK, &kept->mask, NULL);
}
