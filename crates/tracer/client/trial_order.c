#include "trial_order.h"

#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "peek.h"
#include "trial_sites.h"
#include "trial_store.h"

/* Somebody may see in what order this process's stores come. */
static volatile bool watched;
/* Memory of others is mapped that may become writable. */
static volatile bool shares;

static void
set_pending(at_t *at, uint group)
{
    insert(at, INSTR_CREATE_mov_st(at->drcontext, thread_slot(at->drcontext, TLS_PENDING),
                                   OPND_CREATE_INT32((int)group)));
}

/* Changes rcx. */
static void
fence(at_t *at)
{
    opnd_t rcx = opnd_create_reg(DR_REG_RCX), count = thread_slot(at->drcontext, TLS_FENCES);
    insert(at, INSTR_CREATE_sfence(at->drcontext));
    set_pending(at, ORDER_NOTHING);
    insert(at, INSTR_CREATE_mov_ld(at->drcontext, rcx, count));
    insert(at, INSTR_CREATE_lea(at->drcontext, rcx, OPND_CREATE_MEM_lea(DR_REG_RCX, DR_REG_NULL, 0, 1)));
    insert(at, INSTR_CREATE_mov_st(at->drcontext, count, rcx));
}

/* A fence where stores of another group than `but` are pending. */
static void
fence_if_pending(at_t *at, uint but)
{
    instr_t *none = INSTR_CREATE_label(at->drcontext);
    opnd_t rcx = opnd_create_reg(DR_REG_RCX);
    insert(at, INSTR_CREATE_mov_ld(at->drcontext, rcx, thread_slot(at->drcontext, TLS_PENDING)));
    insert(at, INSTR_CREATE_jecxz(at->drcontext, opnd_create_instr(none)));
    if (but != ORDER_NOTHING) {
        insert(at, INSTR_CREATE_lea(at->drcontext, rcx,
                                    OPND_CREATE_MEM_lea(DR_REG_RCX, DR_REG_NULL, 0, -(int)but)));
        insert(at, INSTR_CREATE_jecxz(at->drcontext, opnd_create_instr(none)));
    }
    fence(at);
    insert(at, none);
}

void
trial_order(at_t *at, regs_t *regs, order_t *known, uint group)
{
    bool atomic = false;
    if (!watched || !trial_sites_fenced() || (group == 0 && !trial_stores(at->where, &atomic)))
        return;
    if (atomic) {
        if (*known != ORDER_NOTHING)
            set_pending(at, ORDER_NOTHING);
        *known = ORDER_NOTHING;
        return;
    }
    bool matters = *known != ORDER_NOTHING && *known != group && (group == 0 || trial_sites_mixed());
    if (matters) {
        regs_reserve_this(at, regs, DR_REG_RCX);
        if (*known == ORDER_UNKNOWN)
            fence_if_pending(at, group);
        else
            fence(at);
        regs_release(regs, DR_REG_RCX);
    }
    if (group != 0 && *known != group)
        set_pending(at, group);
    *known = group;
}

static bool
begins_to_share(void *drcontext, int number)
{
    reg_t first = dr_syscall_get_param(drcontext, 0);
    switch (number) {
    case SYS_vfork:
    case SYS_shmat: return true;
    case SYS_clone: return (first & CLONE_VM) != 0;
    case SYS_clone3: {
        uint64 flags = ~0ull;
        return !peek((const void *)first, &flags, sizeof(flags)) || (flags & CLONE_VM) != 0;
    }
    case SYS_mmap: {
        bool shared = (dr_syscall_get_param(drcontext, 3) & MAP_TYPE) != MAP_PRIVATE;
        shares = shares || shared;
        return shared && (dr_syscall_get_param(drcontext, 2) & PROT_WRITE) != 0;
    }
    case SYS_mprotect:
    case SYS_pkey_mprotect:
        return shares && (dr_syscall_get_param(drcontext, 2) & PROT_WRITE) != 0;
    default: return false;
    }
}

void
trial_order_before_syscall(void *drcontext, int number)
{
    uint64 *pending = thread_slot_of(thread_of(drcontext), TLS_PENDING);
    __builtin_ia32_sfence();
    *pending = ORDER_NOTHING;
    if (watched || !begins_to_share(drcontext, number))
        return;
    watched = true;
    /* Blocks made so far keep no order. */
    if (trial_sites_fenced())
        dr_flush_region(NULL, ~(size_t)0);
}
