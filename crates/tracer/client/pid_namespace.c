#define _GNU_SOURCE
#include "pid_namespace.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dr_api.h"
#include "drmgr.h"
#include "peek.h"
#include "seccomp.h"

/* The child of a vfork, which shares its parent's memory, is a thread of it for the engine, and told
 * from others by its number. In a namespace of its own it has a number there, which may be its
 * parent's. Such a child gets a copy of the memory, as a forked one; its parent waits as it would. */

typedef struct {
    bool active;
    reg_t given[2];
    struct clone_args args;
} apart_t;

static int tls_index;

static bool
link_of(const char *path, char *target, size_t size)
{
    long got = syscall(SYS_readlinkat, AT_FDCWD, path, target, size - 1);
    target[got < 0 ? 0 : got] = '\0';
    return got > 0;
}

/* Will the children be in another namespace? One that nobody is in yet has no name. */
static bool
children_live_elsewhere(void)
{
    char ours[64], theirs[64];
    return link_of("/proc/thread-self/ns/pid", ours, sizeof(ours)) &&
        (!link_of("/proc/thread-self/ns/pid_for_children", theirs, sizeof(theirs)) ||
         strcmp(ours, theirs) != 0);
}

static bool
shares_memory_apart(uint64 flags)
{
    return (flags & (CLONE_VM | CLONE_VFORK | CLONE_THREAD)) == (CLONE_VM | CLONE_VFORK) &&
        ((flags & CLONE_NEWPID) != 0 || children_live_elsewhere());
}

static void
call_instead(void *drcontext, int number, reg_t first, reg_t second)
{
    apart_t *a = drmgr_get_tls_field(drcontext, tls_index);
    a->active = true;
    a->given[0] = dr_syscall_get_param(drcontext, 0);
    a->given[1] = dr_syscall_get_param(drcontext, 1);
    dr_syscall_set_sysnum(drcontext, number);
    dr_syscall_set_param(drcontext, 0, first);
    dr_syscall_set_param(drcontext, 1, second);
}

static bool
before_syscall(void *drcontext, int number)
{
    apart_t *a = drmgr_get_tls_field(drcontext, tls_index);
    reg_t first = dr_syscall_get_param(drcontext, 0);
    reg_t second = dr_syscall_get_param(drcontext, 1);
    if (number == SYS_vfork && shares_memory_apart(CLONE_VM | CLONE_VFORK))
        call_instead(drcontext, SYS_clone, CLONE_VFORK | SIGCHLD, 0);
    else if (number == SYS_clone && shares_memory_apart(first))
        call_instead(drcontext, SYS_clone, first & ~(reg_t)CLONE_VM, second);
    else if (number == SYS_clone3 && second <= sizeof(a->args) &&
             peek((void *)first, &a->args, second) == second &&
             shares_memory_apart(a->args.flags)) {
        a->args.flags &= ~(uint64)CLONE_VM;
        call_instead(drcontext, SYS_clone3, (reg_t)&a->args, second);
    }
    return true;
}

static void
after_syscall(void *drcontext, int number)
{
    apart_t *a = drmgr_get_tls_field(drcontext, tls_index);
    dr_mcontext_t mc = { .size = sizeof(mc), .flags = DR_MC_INTEGER };
    if (!a->active || !dr_get_mcontext(drcontext, &mc))
        return;
    a->active = false;
    mc.xdi = a->given[0];
    mc.xsi = a->given[1];
    dr_set_mcontext(drcontext, &mc);
}

static void
on_thread_init(void *drcontext)
{
    apart_t *a = dr_thread_alloc(drcontext, sizeof(*a));
    a->active = false;
    drmgr_set_tls_field(drcontext, tls_index, a);
}

static void
on_thread_exit(void *drcontext)
{
    dr_thread_free(drcontext, drmgr_get_tls_field(drcontext, tls_index), sizeof(apart_t));
}

void
pid_namespace_init(void)
{
    /* Before all that looks at what is called, but the filters, which are about what the program calls. */
    drmgr_priority_t first = { sizeof(first), "prestore-pid-namespace", NULL, NULL, -90 };
    tls_index = drmgr_register_tls_field();
    drmgr_register_thread_init_event(on_thread_init);
    drmgr_register_thread_exit_event(on_thread_exit);
    seccomp_before_allowed(before_syscall, &first);
    drmgr_register_post_syscall_event(after_syscall);
}
