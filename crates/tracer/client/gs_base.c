#include "gs_base.h"

#include <asm/prctl.h>
#include <sys/syscall.h>

#include "unrecordable.h"

/* The engine finds its own storage by GS. */
void
gs_base_before_syscall(void *drcontext, int number)
{
    if (number == SYS_arch_prctl && dr_syscall_get_param(drcontext, 0) == ARCH_SET_GS)
        unrecordable("sets the base of its GS segment (arch_prctl with ARCH_SET_GS), which the "
                     "recorder needs for itself");
}
