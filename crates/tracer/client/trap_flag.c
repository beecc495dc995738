#include "trap_flag.h"

#include <signal.h>

#include "unrecordable.h"

#define TRAP_FLAG (1 << 8)

/* The processor would stop it behind the recorder's instructions as well. */
void
trap_flag_on_signal(const dr_siginfo_t *info)
{
    if (info->sig == SIGTRAP && info->raw_mcontext_valid && info->raw_mcontext != NULL &&
        (info->raw_mcontext->xflags & TRAP_FLAG) != 0)
        unrecordable("steps through its own instructions (by the trap flag), among which the recorder's are");
}
