#include "gs_base.h"

#include <asm/prctl.h>
#include <sys/syscall.h>

/* To go on would make another program of it, one that was never asked for. */
void
gs_base_refuse(const char *what)
{
    dr_fprintf(STDERR,
               "prestore: process %d %s, which the recorder needs for itself: this program cannot be "
               "recorded and was ended here; run it without prestore\n",
               dr_get_process_id(), what);
    dr_exit_process(3);
}

/* The engine finds its own storage by GS. */
void
gs_base_before_syscall(void *drcontext, int number)
{
    if (number == SYS_arch_prctl && dr_syscall_get_param(drcontext, 0) == ARCH_SET_GS)
        gs_base_refuse("sets the base of its GS segment (arch_prctl with ARCH_SET_GS)");
}
