#include "seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drmgr.h"
#include "locks.h"
#include "seccomp_filter.h"
#include "signals.h"
#include "unrecordable.h"

/* A filter that the program asks for would also judge the system calls of the engine and of this
 * client, which the program does not know of. So it is kept here, and every system call of the
 * program is put to it as the kernel would, with the same consequence. Only what the program
 * executes gets the filters for real, and runs natively. */

/* One filter; never changed, and freed with all others at the end, as threads share them. */
typedef struct filter {
    const struct filter *older;
    struct filter *next; /* of all */
    bool strict; /* no program: SECCOMP_MODE_STRICT */
    uint flags;
    unsigned short len;
    struct sock_filter code[];
} filter_t;

typedef struct jailed {
    const filter_t *newest;
    bool refused; /* the call that is being made */
    thread_id_t tid;
    struct jailed *next;
} jailed_t;

static int tls_index;
static void *lock;
static jailed_t *threads;
static filter_t *filters;
/* Of the thread that cloned last: what a new thread inherits. */
static const filter_t *inherited;

static bool
finish(void *drcontext, reg_t result)
{
    dr_syscall_set_result(drcontext, result);
    return false;
}

static bool
may_filter(void)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = { 0 };
    if (syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return true;
    return syscall(SYS_capget, &head, caps) == 0 &&
        (caps[CAP_SYS_ADMIN / 32].effective >> (CAP_SYS_ADMIN % 32) & 1) != 0;
}

/* Gives the filters of `of` to all threads; the id of one that has others, or 0. */
static thread_id_t
share(const jailed_t *of, const filter_t *added)
{
    thread_id_t other = 0;
    for (jailed_t *t = threads; t != NULL && other == 0; t = t->next) {
        const filter_t *f = of->newest;
        while (f != NULL && f != t->newest)
            f = f->older;
        if (f != t->newest)
            other = t->tid;
    }
    for (jailed_t *t = threads; t != NULL && other == 0; t = t->next)
        t->newest = added;
    return other;
}

/* A filter with room for `len` instructions. */
static filter_t *
new_filter(unsigned short len)
{
    filter_t *f = dr_global_alloc(sizeof(*f) + len * sizeof(struct sock_filter));
    memset(f, 0, sizeof(*f));
    f->len = len;
    return f;
}

static void
free_filter(filter_t *f)
{
    dr_global_free(f, sizeof(*f) + f->len * sizeof(struct sock_filter));
}

static void
keep(filter_t *f)
{
    dr_mutex_lock(lock);
    f->next = filters;
    filters = f;
    dr_mutex_unlock(lock);
}

static reg_t
add_strict(jailed_t *self)
{
    if (self->newest != NULL)
        return (reg_t)-EINVAL;
    filter_t *f = new_filter(0);
    f->strict = true;
    keep(f);
    self->newest = f;
    return 0;
}

static reg_t
add_filter(jailed_t *self, const void *program, uint flags)
{
    struct sock_fprog given;
    size_t got;
    /* Programs find out what there is by giving no filter: the kernel looks at the flags first. None are asked for by
     * prctl, which a filter around us may allow alone.
     */
    if (flags != 0 &&
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, NULL) < 0 && errno != EFAULT)
        return (reg_t)-errno;
    if (!dr_safe_read(program, sizeof(given), &given, &got))
        return (reg_t)-EFAULT;
    if (given.len == 0 || given.len > BPF_MAXINSNS || (self->newest != NULL && self->newest->strict))
        return (reg_t)-EINVAL;
    if (!may_filter())
        return (reg_t)-EACCES;
    if ((flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0)
        unrecordable("has another process decide on its system calls (seccomp with "
                     "SECCOMP_FILTER_FLAG_NEW_LISTENER), and would have it decide on the recorder's");
    if ((flags & ~(uint)(SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG |
                         SECCOMP_FILTER_FLAG_SPEC_ALLOW | SECCOMP_FILTER_FLAG_TSYNC_ESRCH)) != 0)
        return (reg_t)-EINVAL;
    size_t bytes = given.len * sizeof(struct sock_filter);
    filter_t *f = new_filter(given.len);
    bool read = dr_safe_read(given.filter, bytes, f->code, &got);
    if (!read || !seccomp_filter_valid(f->code, given.len)) {
        free_filter(f);
        return (reg_t)(read ? -EINVAL : -EFAULT);
    }
    f->older = self->newest;
    f->flags = flags;
    if ((flags & SECCOMP_FILTER_FLAG_TSYNC) != 0) {
        dr_mutex_lock(lock);
        thread_id_t other = share(self, f);
        dr_mutex_unlock(lock);
        if (other != 0) {
            bool plain = (flags & SECCOMP_FILTER_FLAG_TSYNC_ESRCH) == 0;
            free_filter(f);
            return plain ? (reg_t)other : (reg_t)-ESRCH;
        }
    }
    keep(f);
    self->newest = f;
    return 0;
}

/* The calls that make and ask for filters; false: it was one and is done. */
static bool
not_about_filters(void *drcontext, jailed_t *self, int number)
{
    reg_t arg[3];
    for (int i = 0; i < 3; i++)
        arg[i] = dr_syscall_get_param(drcontext, i);
    if (number == SYS_prctl && arg[0] == PR_GET_SECCOMP && self->newest != NULL)
        return finish(drcontext, SECCOMP_MODE_FILTER);
    if (number == SYS_prctl && arg[0] == PR_SET_SECCOMP) {
        if (arg[1] == SECCOMP_MODE_STRICT)
            return finish(drcontext, add_strict(self));
        if (arg[1] == SECCOMP_MODE_FILTER)
            return finish(drcontext, add_filter(self, (const void *)arg[2], 0));
        return true;
    }
    if (number != SYS_seccomp)
        return true;
    uint operation = (uint)arg[0], flags = (uint)arg[1];
    if (operation == SECCOMP_SET_MODE_STRICT)
        return finish(drcontext, flags != 0 || arg[2] != 0 ? (reg_t)-EINVAL : add_strict(self));
    if (operation == SECCOMP_SET_MODE_FILTER)
        return finish(drcontext, add_filter(self, (const void *)arg[2], flags));
    return true;
}

static uint32_t
judge(const filter_t *newest, const struct seccomp_data *call)
{
    uint32_t verdict = SECCOMP_RET_ALLOW;
    for (const filter_t *f = newest; f != NULL; f = f->older) {
        uint32_t one = seccomp_filter_run(f->code, call);
        if ((int32_t)(one & SECCOMP_RET_ACTION_FULL) <
            (int32_t)(verdict & SECCOMP_RET_ACTION_FULL))
            verdict = one;
    }
    return verdict;
}

/* As the kernel ends a process that did what it may not. */
static void
die(int sig)
{
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        uint64 mask;
    } plain = { SIG_DFL, 0, NULL, 0 };
    uint64 only = 1ULL << (sig - 1);
    syscall(SYS_rt_sigaction, sig, &plain, NULL, sizeof(plain.mask));
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &only, NULL, sizeof(only));
    syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), sig);
    syscall(SYS_exit_group, 128 + sig);
}

static bool
end_thread(void *drcontext)
{
    if (threads == NULL || threads->next == NULL)
        die(SIGSYS);
    dr_syscall_set_sysnum(drcontext, SYS_exit);
    dr_syscall_set_param(drcontext, 0, SIGSYS);
    return true;
}

static bool
trap(void *drcontext, const struct seccomp_data *call, uint32_t data)
{
    if (!engine_signal_handled(drcontext, SIGSYS))
        die(SIGSYS);
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    info.si_signo = SIGSYS;
    info.si_code = 1; /* SYS_SECCOMP */
    info.si_errno = (int)data;
    info.si_call_addr = (void *)call->instruction_pointer;
    info.si_syscall = call->nr;
    info.si_arch = AUDIT_ARCH_X86_64;
    syscall(SYS_rt_tgsigqueueinfo, syscall(SYS_getpid), syscall(SYS_gettid), SIGSYS, &info);
    /* The handler finds the call's number where its result would be. */
    return finish(drcontext, (reg_t)call->nr);
}

static bool
obey(void *drcontext, jailed_t *self, int number)
{
    struct seccomp_data call = { .nr = number, .arch = AUDIT_ARCH_X86_64 };
    dr_mcontext_t mc = { .size = sizeof(mc), .flags = DR_MC_CONTROL };
    if (self->newest->strict) {
        if (number != SYS_read && number != SYS_write && number != SYS_exit &&
            number != SYS_rt_sigreturn)
            die(SIGKILL);
        return true;
    }
    for (int i = 0; i < 6; i++)
        call.args[i] = dr_syscall_get_param(drcontext, i);
    if (dr_get_mcontext(drcontext, &mc))
        call.instruction_pointer = (uint64)mc.pc;
    uint32_t verdict = judge(self->newest, &call), data = verdict & SECCOMP_RET_DATA;
    uint32_t action = verdict & SECCOMP_RET_ACTION_FULL;
    self->refused = action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG;
    switch (action) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG: return true;
    case SECCOMP_RET_ERRNO: return finish(drcontext, (reg_t)(long)-(data > 4095 ? 4095 : (int)data));
    case SECCOMP_RET_TRAP: return trap(drcontext, &call, data);
    case SECCOMP_RET_TRACE: /* nobody traces us */
    case SECCOMP_RET_USER_NOTIF: return finish(drcontext, (reg_t)-ENOSYS);
    case SECCOMP_RET_KILL_THREAD: return end_thread(drcontext);
    default: die(SIGSYS); return false;
    }
}

static bool
before_syscall(void *drcontext, int number)
{
    jailed_t *self = drmgr_get_tls_field(drcontext, tls_index);
    self->refused = false;
    if (self->newest != NULL && !obey(drcontext, self, number))
        return false;
    if (self->refused)
        return true;
    if (number == SYS_clone || number == SYS_clone3 || number == SYS_vfork)
        inherited = self->newest;
    return not_about_filters(drcontext, self, number);
}

static void
on_thread_init(void *drcontext)
{
    jailed_t *self = dr_thread_alloc(drcontext, sizeof(*self));
    self->tid = dr_get_thread_id(drcontext);
    self->newest = inherited;
    self->refused = false;
    drmgr_set_tls_field(drcontext, tls_index, self);
    dr_mutex_lock(lock);
    self->next = threads;
    threads = self;
    dr_mutex_unlock(lock);
}

static void
on_thread_exit(void *drcontext)
{
    jailed_t *self = drmgr_get_tls_field(drcontext, tls_index);
    dr_mutex_lock(lock);
    for (jailed_t **at = &threads; *at != NULL; at = &(*at)->next) {
        if (*at == self) {
            *at = self->next;
            break;
        }
    }
    dr_mutex_unlock(lock);
    dr_thread_free(drcontext, self, sizeof(*self));
}

void
seccomp_forked(void *drcontext)
{
    lock = lock_in_child(lock);
    threads = drmgr_get_tls_field(drcontext, tls_index);
    threads->tid = dr_get_thread_id(drcontext);
    threads->next = NULL;
}

bool
seccomp_active(void)
{
    jailed_t *self = drmgr_get_tls_field(dr_get_current_drcontext(), tls_index);
    return self->newest != NULL;
}

static void
install(const filter_t *f)
{
    if (f == NULL || f->strict)
        return;
    install(f->older);
    struct sock_fprog program = { f->len, (struct sock_filter *)f->code };
    uint flags = f->flags & (SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_SPEC_ALLOW);
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

void
seccomp_hand_over(void *drcontext)
{
    jailed_t *self = drmgr_get_tls_field(drcontext, tls_index);
    install(self->newest);
}

/* The engine asks everybody before a call, whatever the first has said. */
static bool
before_allowed(void *drcontext, int number, void *callback)
{
    jailed_t *self = drmgr_get_tls_field(drcontext, tls_index);
    return self->refused || ((before_call_t)callback)(drcontext, number);
}

void
seccomp_before_allowed(before_call_t callback, drmgr_priority_t *priority)
{
    drmgr_register_pre_syscall_event_user_data(before_allowed, priority, (void *)callback);
}

void
seccomp_init(void)
{
    drmgr_priority_t first = { sizeof(first), "prestore-seccomp", NULL, NULL, -100 };
    lock = dr_mutex_create();
    tls_index = drmgr_register_tls_field();
    drmgr_register_thread_init_event(on_thread_init);
    drmgr_register_thread_exit_event(on_thread_exit);
    drmgr_register_pre_syscall_event_ex(before_syscall, &first);
}

void
seccomp_exit(void)
{
    for (filter_t *f = filters, *next; f != NULL; f = next) {
        next = f->next;
        free_filter(f);
    }
    dr_mutex_destroy(lock);
}
