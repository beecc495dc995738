#include "refused_prctl.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unrecordable.h"

/* Not in the headers of older systems. */
#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_GET_MDWE 66
#endif

/* Would the kernel do it? It has not always known it. */
static bool
forbids_new_code(void *drcontext)
{
    for (int i = 2; i < 5; i++) {
        if (dr_syscall_get_param(drcontext, i) != 0)
            return false;
    }
    reg_t how = dr_syscall_get_param(drcontext, 1);
    return (how == 1 || how == 3) && syscall(SYS_prctl, PR_GET_MDWE, 0, 0, 0, 0) >= 0;
}

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
    if (option == PR_SET_MDWE && forbids_new_code(drcontext))
        unrecordable("forbids itself memory that is written and executed (prctl with PR_SET_MDWE), as the "
                     "recorder's copy of its code is");
}
