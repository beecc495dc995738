#include "descriptors.h"

#include <sys/syscall.h>

#include "dr_api.h"
#include "drmgr.h"
#include "process_status.h"
#include "seccomp.h"

/* The engine walks through every number of close_range(first, last), to spare its own files, and
 * programs say "up to the largest number there is": hours. No file is open beyond the size of the
 * process's table, so the range is cut to it, and the program gets its register back. */

static int tls_index;

/* Where the program has used up its descriptors and lowered its limit for good, the status cannot be
 * opened: then what the kernel lets a table grow to, unless it was told otherwise. */
static uint64
table_size(void)
{
    uint64 size = process_status("FDSize:", 10);
    return size == 0 ? 1 << 20 : size;
}

static bool
before_syscall(void *drcontext, int number)
{
    if (number != SYS_close_range)
        return true;
    uint first = (uint)dr_syscall_get_param(drcontext, 0);
    reg_t last = dr_syscall_get_param(drcontext, 1);
    uint64 size = table_size();
    if (first > (uint)last || (uint)last < size)
        return true;
    reg_t *kept = dr_thread_alloc(drcontext, sizeof(*kept));
    *kept = last;
    drmgr_set_tls_field(drcontext, tls_index, kept);
    dr_syscall_set_param(drcontext, 1, first >= size ? first : size - 1);
    return true;
}

static void
after_syscall(void *drcontext, int number)
{
    reg_t *kept = drmgr_get_tls_field(drcontext, tls_index);
    if (kept == NULL)
        return;
    dr_mcontext_t mc = { .size = sizeof(mc), .flags = DR_MC_INTEGER };
    if (dr_get_mcontext(drcontext, &mc)) {
        mc.xsi = *kept;
        dr_set_mcontext(drcontext, &mc);
    }
    dr_thread_free(drcontext, kept, sizeof(*kept));
    drmgr_set_tls_field(drcontext, tls_index, NULL);
}

void
descriptors_init(void)
{
    tls_index = drmgr_register_tls_field();
    seccomp_before_allowed(before_syscall, NULL);
    drmgr_register_post_syscall_event(after_syscall);
}
