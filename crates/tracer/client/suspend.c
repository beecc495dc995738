#include "suspend.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dr_api.h"
#include "drmgr.h"
#include "signals.h"
#include "seccomp.h"

/* The engine takes every signal from the kernel at once and queues what the program has blocked.
 * Its rt_sigsuspend does not look into the queue, and loses what arrives between its preparations
 * and the system call: the program sleeps on. So the kernel holds back all signals from before the
 * look into the queue until its own rt_sigsuspend lets them in. Where the queue has one already,
 * the kernel gets a call that fails at once, which becomes an interrupted one. */

typedef struct {
    bool active;
    bool queued;
    uint64 kernel_mask;
    /* The engine reads the mask that it is given as if nothing could be wrong with it. */
    uint64 mask;
    reg_t mask_param, size_param;
} suspend_t;

static int tls_index;

#define BIT(sig) (1ULL << ((sig)-1))
/* The engine's own faults must not be held back. */
#define FAULTS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGTRAP))

static bool
fails(void *drcontext, int error)
{
    dr_syscall_set_result(drcontext, (reg_t)-error);
    return false;
}

static bool
before_syscall(void *drcontext, int number)
{
    if (number != SYS_rt_sigsuspend)
        return true;
    suspend_t *s = drmgr_get_tls_field(drcontext, tls_index);
    s->mask_param = dr_syscall_get_param(drcontext, 0);
    s->size_param = dr_syscall_get_param(drcontext, 1);
    if (s->size_param != sizeof(s->mask))
        return fails(drcontext, EINVAL);
    size_t got;
    if (!dr_safe_read((void *)s->mask_param, sizeof(s->mask), &s->mask, &got))
        return fails(drcontext, EFAULT);
    uint64 held = ~FAULTS;
    if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &held, &s->kernel_mask, sizeof(held)) != 0)
        return true;
    s->active = true;
    s->queued = engine_signal_queued(drcontext, s->mask);
    dr_syscall_set_param(drcontext, 0, (reg_t)&s->mask);
    /* The engine does not mind the size, the kernel does. */
    if (s->queued)
        dr_syscall_set_param(drcontext, 1, 0);
    return true;
}

static void
after_syscall(void *drcontext, int number)
{
    suspend_t *s = drmgr_get_tls_field(drcontext, tls_index);
    if (number != SYS_rt_sigsuspend || !s->active)
        return;
    s->active = false;
    dr_mcontext_t mc = { .size = sizeof(mc), .flags = DR_MC_INTEGER };
    if (dr_get_mcontext(drcontext, &mc)) {
        mc.xdi = s->mask_param;
        mc.xsi = s->size_param;
        if (s->queued)
            mc.xax = (reg_t)-EINTR;
        dr_set_mcontext(drcontext, &mc);
    }
    if (s->queued)
        engine_signals_deliver(drcontext);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &s->kernel_mask, NULL, sizeof(s->kernel_mask));
}

static void
on_thread_init(void *drcontext)
{
    suspend_t *s = dr_thread_alloc(drcontext, sizeof(*s));
    memset(s, 0, sizeof(*s));
    drmgr_set_tls_field(drcontext, tls_index, s);
}

static void
on_thread_exit(void *drcontext)
{
    dr_thread_free(drcontext, drmgr_get_tls_field(drcontext, tls_index), sizeof(suspend_t));
}

void
suspend_init(void)
{
    tls_index = drmgr_register_tls_field();
    drmgr_register_thread_init_event(on_thread_init);
    drmgr_register_thread_exit_event(on_thread_exit);
    seccomp_before_allowed(before_syscall, NULL);
    drmgr_register_post_syscall_event(after_syscall);
}
