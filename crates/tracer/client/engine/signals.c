/* Compiled with the engine's own headers, of the version that is linked: its interface does not
 * tell what this needs to know. */
#include "globals.h"

#include "unix/signal_private.h"
#include "dr_tools.h"

#include "../signals.h"

int
engine_signal_waits(void *drcontext)
{
    return ((dcontext_t *)drcontext)->signals_pending > 0;
}

/* Does a program without a handler survive `sig`, or only stop? */
static int
harmless(int sig)
{
    switch (sig) {
    case SIGCHLD:
    case SIGURG:
    case SIGWINCH:
    case SIGCONT:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU: return 1;
    default: return 0;
    }
}

int
engine_signal_queued(void *drcontext, unsigned long long mask)
{
    thread_sig_info_t *info = ((dcontext_t *)drcontext)->signal_field;
    unsigned long long kept = dr_signals_kept();
    for (int sig = 1; sig <= MAX_SIGNUM; sig++) {
        int here = info->sigpending[sig] != NULL || (kept >> (sig - 1) & 1) != 0;
        if (!here || (mask >> (sig - 1) & 1) != 0)
            continue;
        kernel_sigaction_t *action = info->sighand->action[sig];
        handler_t handler = action == NULL ? (handler_t)SIG_DFL : action->handler;
        if (handler == (handler_t)SIG_IGN || (handler == (handler_t)SIG_DFL && harmless(sig)))
            continue;
        return 1;
    }
    return 0;
}

void
engine_signals_deliver(void *drcontext)
{
    ((dcontext_t *)drcontext)->signals_pending = 1;
}

int
engine_signal_handled(void *drcontext, int sig)
{
    thread_sig_info_t *info = ((dcontext_t *)drcontext)->signal_field;
    kernel_sigaction_t *action = info->sighand->action[sig];
    return action != NULL && action->handler != (handler_t)SIG_IGN &&
        action->handler != (handler_t)SIG_DFL && !kernel_sigismember(&info->app_sigblocked, sig);
}

void
engine_signal_masks(void *drcontext, unsigned long long *blocked, unsigned long long *ignored,
                    unsigned long long *caught)
{
    thread_sig_info_t *info = ((dcontext_t *)drcontext)->signal_field;
    *blocked = *ignored = *caught = 0;
    for (int sig = 1; sig <= MAX_SIGNUM; sig++) {
        unsigned long long bit = 1ULL << (sig - 1);
        kernel_sigaction_t *action = info->sighand->action[sig];
        handler_t handler = action == NULL ? (handler_t)SIG_DFL : action->handler;
        if (kernel_sigismember(&info->app_sigblocked, sig))
            *blocked |= bit;
        if (handler == (handler_t)SIG_IGN)
            *ignored |= bit;
        else if (handler != (handler_t)SIG_DFL)
            *caught |= bit;
    }
}

void
engine_signals_pending(void *drcontext, unsigned long long *thread, unsigned long long *process)
{
    thread_sig_info_t *info = ((dcontext_t *)drcontext)->signal_field;
    *thread = 0;
    *process = dr_signals_kept();
    for (int sig = 1; sig <= MAX_SIGNUM; sig++) {
        sigpending_t *first = info->sigpending[sig];
        if (first == NULL || !kernel_sigismember(&info->app_sigblocked, sig))
            continue;
        *(first->rt_frame.info.si_code == SI_TKILL ? thread : process) |= 1ULL << (sig - 1);
    }
}

typedef struct {
    unsigned long long *blocked, *pending, *shared;
} found_t;

static void
look(void *drcontext, void *found_here)
{
    found_t *found = found_here;
    unsigned long long ignored, caught;
    engine_signal_masks(drcontext, found->blocked, &ignored, &caught);
    engine_signals_pending(drcontext, found->pending, found->shared);
}

int
engine_signals_of(int thread, unsigned long long *blocked, unsigned long long *pending,
                  unsigned long long *shared)
{
    found_t found = { blocked, pending, shared };
    return dr_look_at_thread(thread, look, &found);
}

void
engine_exec_natively(void *drcontext)
{
    ((dcontext_t *)drcontext)->execve_natively = true;
}

void
engine_exec_file(void *drcontext, const char *path)
{
    ((dcontext_t *)drcontext)->execve_file = path;
}
