#include "emit.h"

#include <string.h>

#include "capture.h"
#include "flags.h"
#include "gencode.h"
#include "leave.h"
#include "options.h"
#include "stored.h"
#include "thread.h"

/* A header word and the time. */
#define STAMP_BYTES 16

static byte *hand_over_code, *stored_code;

void
emit_init(void)
{
    hand_over_code = gencode_make(thread_full_in_block);
    if (options.values)
        stored_code = gencode_make(stored_behind);
    capture_init();
}

void
emit_thread_init(thread_t *t)
{
    *thread_slot_of(t, TLS_FULL) = (uint64)hand_over_code;
    *thread_slot_of(t, TLS_STORE) = (uint64)stored_code;
}

void
emit_exit(void)
{
    gencode_free(hand_over_code);
    if (options.values)
        gencode_free(stored_code);
}

emit_t *
emit_begin(void *drcontext, plan_t *plan, regs_t *regs)
{
    emit_t *e = dr_thread_alloc(drcontext, sizeof(*e));
    memset(e, 0, sizeof(*e));
    e->plan = plan;
    e->regs = regs;
    e->pointer = DR_REG_NULL;
    return e;
}

void
emit_end(void *drcontext, emit_t *e)
{
    plan_free(drcontext, e->plan);
    dr_thread_free(drcontext, e, sizeof(*e));
}

static uint
record_bytes(const plan_t *plan)
{
    return (1 + plan->words) * (uint)sizeof(uint64) + (plan->stamped ? STAMP_BYTES : 0);
}

/* Jumps ahead if TLS_WRITE is below TLS_LIMIT; leaves TLS_WRITE in the pointer. Without touching
 * flags that the program can see. */
static ahead_t
look_for_room(at_t *at, emit_t *e, bool flags_free)
{
    tls_t write = thread_tls(TLS_WRITE), limit = thread_tls(TLS_LIMIT);
    if (flags_free) {
        code_load_tls(at, e->pointer, write);
        code_compare_tls(at, e->pointer, limit);
        return code_jump(at, JUMP_BELOW);
    }
    /* rcx := limit - 1 - write, which is negative at the limit and behind: then its upper half is
     * not zero. */
    code_load_tls(at, DR_REG_RCX, write);
    code_not(at, DR_REG_RCX);
    code_load_tls(at, e->pointer, limit);
    code_sum(at, DR_REG_RCX, DR_REG_RCX, e->pointer, 1);
    code_load_tls(at, e->pointer, write);
    return code_jump_if_upper_zero(at);
}

/* Goes to shared code, which comes back with the way back in rcx. */
static void
call_shared(at_t *at, tls_slot_t code)
{
    ahead_t back = code_address(at, DR_REG_RCX);
    code_jump_by_tls(at, thread_tls(code));
    code_land(at, back);
}

/* Hands the buffer over; the pointer is behind the record that was claimed then. */
static void
make_room(at_t *at, emit_t *e)
{
    call_shared(at, TLS_FULL);
    leave_insert(at, e->regs, (app_pc)e->plan->head.start_pc, e->plan->instrs);
    code_load_tls(at, e->pointer, thread_tls(TLS_WRITE));
}

/* Writes the time, behind which the record begins. Without a fence: the processor may have read it a
 * little early, and before an atomic that does no harm. */
static void
stamp(at_t *at, emit_t *e, int disp)
{
    code_read_time(at);
    code_store_constant(at, e->pointer, disp, REC_STAMP);
    code_store_constant(at, e->pointer, disp + 4, 1);
    code_store(at, e->pointer, disp + 8, DR_REG_RAX, 4);
    code_store(at, e->pointer, disp + 12, DR_REG_RDX, 4);
}

/* Makes room if there is none, claims the record and writes its header. */
static void
head(at_t *at, emit_t *e)
{
    regs_t *regs = e->regs;
    int bytes = (int)record_bytes(e->plan), header = (int)((1 + e->plan->words) * sizeof(uint64));
    bool flags_free = flags_unseen(at->where, regs_ahead(regs));

    if (e->plan->stamped) {
        regs_reserve_this(at, regs, DR_REG_RAX);
        regs_reserve_this(at, regs, DR_REG_RDX);
    }
    if (!flags_free)
        regs_reserve_this(at, regs, DR_REG_RCX);
    e->pointer = regs_reserve(at, regs, reg_set(DR_REG_RCX));
    ahead_t room = look_for_room(at, e, flags_free);
    /* The rare way. */
    bool borrowed = !regs_in_slot(regs, DR_REG_RCX);
    if (borrowed)
        regs_reserve_this(at, regs, DR_REG_RCX);
    make_room(at, e);
    if (borrowed)
        regs_give_back(at, regs, reg_set(DR_REG_RCX));
    code_land(at, room);

    code_add(at, e->pointer, e->pointer, bytes);
    code_store_tls(at, thread_tls(TLS_WRITE), e->pointer);
    if (e->plan->stamped)
        stamp(at, e, -bytes);
    code_store_constant(at, e->pointer, -header, (int)e->plan->id);
    if (e->plan->stamped) {
        regs_release(regs, DR_REG_RDX);
        regs_release(regs, DR_REG_RAX);
    }
    regs_release(regs, DR_REG_RCX);
}

/* Those captures of instructions before `before` that belong behind their instruction. */
static void
after_captures(at_t *at, emit_t *e, uint before)
{
    plan_t *plan = e->plan;
    for (; e->next_after < plan->n_captures && plan->captures[e->next_after].instr < before;
         e->next_after++) {
        if (plan->captures[e->next_after].after)
            capture_emit(at, e, &plan->captures[e->next_after]);
    }
}

/* Says which instruction comes, also for what it has done when it faults halfway. */
static void
announce(at_t *at, emit_t *e)
{
    reg_id_t reg = regs_reserve(at, e->regs, 0);
    code_immediate(at, reg, (uint64)e->plan->stored);
    code_store_tls(at, thread_tls(TLS_STORED), reg);
    regs_release(e->regs, reg);
}

/* Behind an atomic, which ends its block: what comes now comes after what it has read. */
static void
stamp_behind(at_t *at, emit_t *e)
{
    tls_t write = thread_tls(TLS_WRITE);
    regs_reserve_this(at, e->regs, DR_REG_RAX);
    regs_reserve_this(at, e->regs, DR_REG_RDX);
    e->pointer = regs_reserve(at, e->regs, 0);
    code_load_tls(at, e->pointer, write);
    code_add(at, e->pointer, e->pointer, STAMP_BYTES);
    code_store_tls(at, write, e->pointer);
    /* While the atomic waits for its line the processor would read the time ahead, from before all
     * that the last owner of a lock has done. */
    code_load_fence(at);
    stamp(at, e, -STAMP_BYTES);
    regs_give_back(at, e->regs, (reg_set_t)~0u);
}

static void
call_stored(at_t *at, emit_t *e)
{
    regs_reserve_this(at, e->regs, DR_REG_RCX);
    call_shared(at, TLS_STORE);
    leave_insert(at, e->regs, (app_pc)e->plan->head.next_pc, 0);
}

void
emit_before(at_t *at, emit_t *e)
{
    plan_t *plan = e->plan;
    uint instr = e->regs->at;
    if (instr == 0)
        head(at, e);
    /* First what belongs behind the instruction before this one, then what belongs before it. */
    after_captures(at, e, instr);
    for (; e->next_capture < plan->n_captures && plan->captures[e->next_capture].instr == instr;
         e->next_capture++) {
        if (!plan->captures[e->next_capture].after)
            capture_emit(at, e, &plan->captures[e->next_capture]);
    }
    if (plan->stored != NULL && instr + 1 == plan->instrs)
        announce(at, e);
}

void
emit_behind(void *drcontext, instrlist_t *bb, instr_t *last, emit_t *e)
{
    plan_t *plan = e->plan;
    /* The call writes its own, behind what it looks at. */
    bool any = plan->stored != NULL, stamped = plan->stamped && !any;
    for (uint i = e->next_after; i < plan->n_captures; i++)
        any = any || plan->captures[i].after;
    if (!any && !stamped)
        return;
    instr_t *end = INSTR_CREATE_label(drcontext);
    instrlist_meta_postinsert(bb, last, end);
    at_t at;
    at_begin(&at, drcontext, bb, end);
    after_captures(&at, e, plan->instrs);
    regs_give_back(&at, e->regs, (reg_set_t)~0u);
    if (stamped)
        stamp_behind(&at, e);
    if (plan->stored != NULL)
        call_stored(&at, e);
    regs_give_back(&at, e->regs, (reg_set_t)~0u);
    at_flush(&at);
}
