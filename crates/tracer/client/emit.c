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

/* Goes to `room` if TLS_WRITE is below TLS_LIMIT; leaves TLS_WRITE in the pointer. Without touching
 * flags that the program can see. */
static void
look_for_room(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e, bool flags_free,
              instr_t *room)
{
    opnd_t write = thread_slot(drcontext, TLS_WRITE), limit = thread_slot(drcontext, TLS_LIMIT);
    opnd_t pointer = opnd_create_reg(e->pointer), rcx = opnd_create_reg(DR_REG_RCX);
    if (flags_free) {
        insert(bb, where, INSTR_CREATE_mov_ld(drcontext, pointer, write));
        insert(bb, where, INSTR_CREATE_cmp(drcontext, pointer, limit));
        insert(bb, where, INSTR_CREATE_jcc(drcontext, OP_jb, opnd_create_instr(room)));
        return;
    }
    /* rcx := limit - 1 - write, which is negative at the limit and behind: then its upper half is
     * not zero. */
    insert(bb, where, INSTR_CREATE_mov_ld(drcontext, rcx, write));
    insert(bb, where, INSTR_CREATE_not(drcontext, rcx));
    insert(bb, where, INSTR_CREATE_mov_ld(drcontext, pointer, limit));
    insert(bb, where,
           INSTR_CREATE_lea(drcontext, rcx,
                            OPND_CREATE_MEM_lea(DR_REG_RCX, e->pointer, 1, 0)));
    insert(bb, where, INSTR_CREATE_mov_ld(drcontext, pointer, write));
    insert_jump_if_upper_zero(drcontext, bb, where, room);
}

/* Hands the buffer over; the pointer is behind the record that was claimed then. */
static void
make_room(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e)
{
    instr_t *back = INSTR_CREATE_label(drcontext);
    insert(bb, where,
           INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(DR_REG_RCX), opnd_create_instr(back)));
    insert(bb, where, INSTR_CREATE_jmp(drcontext, opnd_create_pc(hand_over_code)));
    insert(bb, where, back);
    leave_insert(drcontext, bb, where, e->regs, (app_pc)e->plan->head.start_pc, e->plan->instrs);
    insert(bb, where,
           INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(e->pointer),
                               thread_slot(drcontext, TLS_WRITE)));
}

/* Writes the time, behind which the record begins. Without a fence: the processor may have read it a
 * little early, and before an atomic that does no harm. */
static void
stamp(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e, int at)
{
    opnd_t eax = opnd_create_reg(DR_REG_EAX), edx = opnd_create_reg(DR_REG_EDX);
    insert(bb, where, INSTR_CREATE_rdtsc(drcontext));
    insert(bb, where,
           INSTR_CREATE_mov_st(drcontext, OPND_CREATE_MEM32(e->pointer, at),
                               OPND_CREATE_INT32(REC_STAMP)));
    insert(bb, where,
           INSTR_CREATE_mov_st(drcontext, OPND_CREATE_MEM32(e->pointer, at + 4),
                               OPND_CREATE_INT32(1)));
    insert(bb, where,
           INSTR_CREATE_mov_st(drcontext, OPND_CREATE_MEM32(e->pointer, at + 8), eax));
    insert(bb, where,
           INSTR_CREATE_mov_st(drcontext, OPND_CREATE_MEM32(e->pointer, at + 12), edx));
}

/* Makes room if there is none, claims the record and writes its header. */
static void
head(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e)
{
    regs_t *regs = e->regs;
    int bytes = (int)record_bytes(e->plan), header = (int)((1 + e->plan->words) * sizeof(uint64));
    bool flags_free = flags_unseen(where, regs_ahead(regs));
    instr_t *room = INSTR_CREATE_label(drcontext);

    if (e->plan->stamped) {
        regs_reserve_this(drcontext, bb, where, regs, DR_REG_RAX);
        regs_reserve_this(drcontext, bb, where, regs, DR_REG_RDX);
    }
    if (!flags_free)
        regs_reserve_this(drcontext, bb, where, regs, DR_REG_RCX);
    e->pointer = regs_reserve(drcontext, bb, where, regs, reg_set(DR_REG_RCX));
    look_for_room(drcontext, bb, where, e, flags_free, room);
    /* The rare way. */
    bool borrowed = (regs->ours & reg_set(DR_REG_RCX)) == 0;
    if (borrowed)
        regs_reserve_this(drcontext, bb, where, regs, DR_REG_RCX);
    make_room(drcontext, bb, where, e);
    if (borrowed)
        regs_give_back(drcontext, bb, where, regs, reg_set(DR_REG_RCX));
    insert(bb, where, room);

    insert(bb, where,
           INSTR_CREATE_lea(drcontext, opnd_create_reg(e->pointer),
                            OPND_CREATE_MEM_lea(e->pointer, DR_REG_NULL, 0, bytes)));
    insert(bb, where,
           INSTR_CREATE_mov_st(drcontext, thread_slot(drcontext, TLS_WRITE),
                               opnd_create_reg(e->pointer)));
    if (e->plan->stamped)
        stamp(drcontext, bb, where, e, -bytes);
    insert(bb, where,
           INSTR_CREATE_mov_st(drcontext, OPND_CREATE_MEM32(e->pointer, -header),
                               OPND_CREATE_INT32((int)e->plan->id)));
    if (e->plan->stamped) {
        regs_release(regs, DR_REG_RDX);
        regs_release(regs, DR_REG_RAX);
    }
    regs_release(regs, DR_REG_RCX);
}

/* Those captures of instructions before `before` that belong behind their instruction. */
static void
after_captures(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e, uint before)
{
    plan_t *plan = e->plan;
    for (; e->next_after < plan->n_captures && plan->captures[e->next_after].instr < before;
         e->next_after++) {
        if (plan->captures[e->next_after].after)
            capture_emit(drcontext, bb, where, e, &plan->captures[e->next_after]);
    }
}

/* Says which instruction comes, also for what it has done when it faults halfway. */
static void
announce(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e)
{
    reg_id_t reg = regs_reserve(drcontext, bb, where, e->regs, 0);
    insert(bb, where,
           INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(reg),
                                OPND_CREATE_INTPTR(e->plan->stored)));
    insert(bb, where,
           INSTR_CREATE_mov_st(drcontext, thread_slot(drcontext, TLS_STORED),
                               opnd_create_reg(reg)));
    regs_release(e->regs, reg);
}

/* Behind an atomic, which ends its block: what comes now comes after what it has read. */
static void
stamp_behind(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e)
{
    opnd_t write = thread_slot(drcontext, TLS_WRITE);
    regs_reserve_this(drcontext, bb, where, e->regs, DR_REG_RAX);
    regs_reserve_this(drcontext, bb, where, e->regs, DR_REG_RDX);
    e->pointer = regs_reserve(drcontext, bb, where, e->regs, 0);
    insert(bb, where, INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(e->pointer), write));
    insert(bb, where,
           INSTR_CREATE_lea(drcontext, opnd_create_reg(e->pointer),
                            OPND_CREATE_MEM_lea(e->pointer, DR_REG_NULL, 0, STAMP_BYTES)));
    insert(bb, where, INSTR_CREATE_mov_st(drcontext, write, opnd_create_reg(e->pointer)));
    /* While the atomic waits for its line the processor would read the time ahead, from before all
     * that the last owner of a lock has done. */
    insert(bb, where, INSTR_CREATE_lfence(drcontext));
    stamp(drcontext, bb, where, e, -STAMP_BYTES);
    regs_give_back(drcontext, bb, where, e->regs, (reg_set_t)~0u);
}

static void
call_stored(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e)
{
    instr_t *back = INSTR_CREATE_label(drcontext);
    regs_reserve_this(drcontext, bb, where, e->regs, DR_REG_RCX);
    insert(bb, where,
           INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(DR_REG_RCX), opnd_create_instr(back)));
    insert(bb, where, INSTR_CREATE_jmp(drcontext, opnd_create_pc(stored_code)));
    insert(bb, where, back);
    leave_insert(drcontext, bb, where, e->regs, (app_pc)e->plan->head.next_pc, 0);
}

void
emit_before(void *drcontext, instrlist_t *bb, instr_t *where, emit_t *e)
{
    plan_t *plan = e->plan;
    uint at = e->regs->at;
    if (at == 0)
        head(drcontext, bb, where, e);
    /* First what belongs behind the instruction before this one, then what belongs before it. */
    after_captures(drcontext, bb, where, e, at);
    for (; e->next_capture < plan->n_captures && plan->captures[e->next_capture].instr == at;
         e->next_capture++) {
        if (!plan->captures[e->next_capture].after)
            capture_emit(drcontext, bb, where, e, &plan->captures[e->next_capture]);
    }
    if (plan->stored != NULL && at + 1 == plan->instrs)
        announce(drcontext, bb, where, e);
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
    after_captures(drcontext, bb, end, e, plan->instrs);
    regs_give_back(drcontext, bb, end, e->regs, (reg_set_t)~0u);
    if (stamped)
        stamp_behind(drcontext, bb, end, e);
    if (plan->stored != NULL)
        call_stored(drcontext, bb, end, e);
    regs_give_back(drcontext, bb, end, e->regs, (reg_set_t)~0u);
}
