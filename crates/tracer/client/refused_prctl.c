#include "refused_prctl.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include "unrecordable.h"

/* Not in the headers of older systems. */
#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

void
refused_prctl_before_syscall(void *drcontext, int number)
{
    if (number != SYS_prctl)
        return;
    int option = (int)dr_syscall_get_param(drcontext, 0);
    reg_t how = dr_syscall_get_param(drcontext, 1);
    if (option == PR_SET_TSC && (int)how == PR_TSC_SIGSEGV)
        unrecordable("forbids itself to read the time-stamp counter (prctl with PR_SET_TSC), which the "
                     "recorder reads");
    if (option == PR_SET_SYSCALL_USER_DISPATCH && how != 0)
        unrecordable("is to be told of system calls by their addresses (prctl with "
                     "PR_SET_SYSCALL_USER_DISPATCH), which are others in the recorder");
}
