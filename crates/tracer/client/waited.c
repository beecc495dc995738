#include <sys/syscall.h>

#include "dr_api.h"
#include "drmgr.h"

#include "thread.h"
#include "waited.h"

/* Of those of which there is a newer form, both. Who sleeps or yields may look for what others have done by then. */
static bool
may_wait_for_others(int number)
{
    switch (number) {
    case SYS_futex:
    case SYS_futex_waitv:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_mq_timedreceive:
    case SYS_flock:
    case SYS_fcntl:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_sched_yield:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait: return true;
    default: return false;
    }
}

static void
on_answer(void *drcontext, int number)
{
    if (may_wait_for_others(number))
        thread_stamp(drcontext);
}

void
waited_init(void)
{
    drmgr_register_post_syscall_event(on_answer);
}
