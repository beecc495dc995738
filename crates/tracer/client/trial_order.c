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
set_pending(void *drcontext, instrlist_t *bb, instr_t *where, uint group)
{
    insert(bb, where,
           INSTR_CREATE_mov_st(drcontext, thread_slot(drcontext, TLS_PENDING),
                               OPND_CREATE_INT32((int)group)));
}

/* Changes rcx. */
static void
fence(void *drcontext, instrlist_t *bb, instr_t *where)
{
    opnd_t rcx = opnd_create_reg(DR_REG_RCX), count = thread_slot(drcontext, TLS_FENCES);
    insert(bb, where, INSTR_CREATE_sfence(drcontext));
    set_pending(drcontext, bb, where, ORDER_NOTHING);
    insert(bb, where, INSTR_CREATE_mov_ld(drcontext, rcx, count));
    insert(bb, where,
           INSTR_CREATE_lea(drcontext, rcx, OPND_CREATE_MEM_lea(DR_REG_RCX, DR_REG_NULL, 0, 1)));
    insert(bb, where, INSTR_CREATE_mov_st(drcontext, count, rcx));
}

/* A fence where stores of another group than `but` are pending. */
static void
fence_if_pending(void *drcontext, instrlist_t *bb, instr_t *where, uint but)
{
    instr_t *none = INSTR_CREATE_label(drcontext);
    opnd_t rcx = opnd_create_reg(DR_REG_RCX);
    insert(bb, where,
           INSTR_CREATE_mov_ld(drcontext, rcx, thread_slot(drcontext, TLS_PENDING)));
    insert(bb, where, INSTR_CREATE_jecxz(drcontext, opnd_create_instr(none)));
    if (but != ORDER_NOTHING) {
        insert(bb, where,
               INSTR_CREATE_lea(drcontext, rcx,
                                OPND_CREATE_MEM_lea(DR_REG_RCX, DR_REG_NULL, 0, -(int)but)));
        insert(bb, where, INSTR_CREATE_jecxz(drcontext, opnd_create_instr(none)));
    }
    fence(drcontext, bb, where);
    insert(bb, where, none);
}

void
trial_order(void *drcontext, instrlist_t *bb, instr_t *instr, regs_t *regs, order_t *known,
            uint group)
{
    bool atomic = false;
    if (!watched || !trial_sites_fenced() || (group == 0 && !trial_stores(instr, &atomic)))
        return;
    if (atomic) {
        if (*known != ORDER_NOTHING)
            set_pending(drcontext, bb, instr, ORDER_NOTHING);
        *known = ORDER_NOTHING;
        return;
    }
    bool matters = *known != ORDER_NOTHING && *known != group && (group == 0 || trial_sites_mixed());
    if (matters) {
        regs_reserve_this(drcontext, bb, instr, regs, DR_REG_RCX);
        if (*known == ORDER_UNKNOWN)
            fence_if_pending(drcontext, bb, instr, group);
        else
            fence(drcontext, bb, instr);
        regs_release(regs, DR_REG_RCX);
    }
    if (group != 0 && *known != group)
        set_pending(drcontext, bb, instr, group);
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
