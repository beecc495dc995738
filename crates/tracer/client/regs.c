#include "regs.h"

#include <string.h>

#include "access.h"
#include "drmgr.h"
#include "gpr.h"
#include "thread.h"

static reg_id_t tls_register;
static uint tls_offset;

reg_set_t
reg_set(reg_id_t reg)
{
    int number = gpr_number(reg);
    return (reg_set_t)(number < 0 ? 0 : 1u << number);
}

reg_set_t
reg_set_of_opnd(opnd_t opnd)
{
    if (opnd_is_reg(opnd))
        return reg_set(opnd_get_reg(opnd));
    if (opnd_is_base_disp(opnd))
        return reg_set(opnd_get_base(opnd)) | reg_set(opnd_get_index(opnd));
    return 0;
}

/* Instructions whose operands, as the engine gives them, are not all they touch. */
static bool
touches_anything(instr_t *instr)
{
    switch (instr_get_opcode(instr)) {
    case OP_cpuid:
    case OP_rdtscp:
    case OP_xgetbv:
    case OP_xsetbv:
    case OP_rdpkru:
    case OP_wrpkru:
    case OP_monitor:
    case OP_mwait:
    case OP_xbegin:
    case OP_xend:
    case OP_xabort:
    case OP_vmcall:
    case OP_vmmcall:
    case OP_vmfunc:
    case OP_int3:
    case OP_int1: return true;
    default: return false;
    }
}

static reg_set_t
used_by(instr_t *instr)
{
    reg_set_t set = 0;
    if (touches_anything(instr))
        return (reg_set_t)~0u;
    for (int i = 0; i < instr_num_srcs(instr); i++)
        set |= reg_set_of_opnd(instr_get_src(instr, i));
    for (int i = 0; i < instr_num_dsts(instr); i++)
        set |= reg_set_of_opnd(instr_get_dst(instr, i));
    return set;
}

regs_t *
regs_begin(void *drcontext, instrlist_t *bb)
{
    regs_t *regs = dr_thread_alloc(drcontext, sizeof(*regs));
    memset(regs, 0, sizeof(*regs));
    for (instr_t *i = instrlist_first_app(bb); i != NULL; i = instr_get_next_app(i))
        regs->instrs += is_program_instr(i) ? 1 : 0;
    regs->uses = dr_thread_alloc(drcontext, (regs->instrs + 1) * sizeof(reg_set_t));
    uint at = 0;
    for (instr_t *i = instrlist_first_app(bb); i != NULL; i = instr_get_next_app(i)) {
        if (is_program_instr(i))
            regs->uses[at++] = used_by(i);
    }
    regs->uses[at] = (reg_set_t)~0u;
    return regs;
}

void
regs_end(void *drcontext, regs_t *regs)
{
    dr_thread_free(drcontext, regs->uses, (regs->instrs + 1) * sizeof(reg_set_t));
    dr_thread_free(drcontext, regs, sizeof(*regs));
}

int
regs_slot_offset(reg_id_t reg)
{
    return (int)tls_offset + gpr_number(reg) * (int)sizeof(uint64);
}

tls_t
regs_slot(reg_id_t reg)
{
    return (tls_t){ tls_register, regs_slot_offset(reg) };
}

/* Which register's slot is `opnd`? DR_REG_NULL: none's. */
static reg_id_t
slot_of(opnd_t opnd)
{
    if (!opnd_is_far_base_disp(opnd) || opnd_get_segment(opnd) != tls_register ||
        opnd_get_base(opnd) != DR_REG_NULL || opnd_get_index(opnd) != DR_REG_NULL)
        return DR_REG_NULL;
    int at = opnd_get_disp(opnd) - (int)tls_offset;
    if (at < 0 || at >= REGS * (int)sizeof(uint64) || at % (int)sizeof(uint64) != 0)
        return DR_REG_NULL;
    return (reg_id_t)(DR_REG_RAX + at / (int)sizeof(uint64));
}

reg_set_t
regs_follow(reg_set_t ours, instr_t *instr)
{
    int op = instr_get_opcode(instr);
    if (op != OP_mov_ld && op != OP_mov_st)
        return ours;
    opnd_t dst = instr_get_dst(instr, 0), src = instr_get_src(instr, 0);
    if (opnd_is_reg(src) && slot_of(dst) == opnd_get_reg(src))
        return ours | reg_set(opnd_get_reg(src));
    if (opnd_is_reg(dst) && slot_of(src) == opnd_get_reg(dst))
        return ours & (reg_set_t)~reg_set(opnd_get_reg(dst));
    return ours;
}

static void
take(at_t *at, regs_t *regs, reg_id_t reg)
{
    if ((regs->ours & reg_set(reg)) == 0)
        code_store_tls(at, regs_slot(reg), reg);
    regs->ours |= reg_set(reg);
    regs->in_use |= reg_set(reg);
}

/* Those of `set`, which is not empty, that the program touches last. */
static reg_set_t
untouched_longest(const regs_t *regs, reg_set_t set)
{
    for (uint i = regs->at; i < regs->instrs; i++) {
        reg_set_t left = set & (reg_set_t)~regs->uses[i];
        if (left == 0)
            break;
        set = left;
    }
    return set;
}

reg_id_t
regs_reserve(at_t *at, regs_t *regs, reg_set_t avoid)
{
    avoid |= reg_set(DR_REG_RSP) | regs->in_use;
    reg_set_t last = untouched_longest(regs, (reg_set_t)~avoid);
    /* One that is ours already costs nothing. */
    reg_set_t cheapest = (last & regs->ours) != 0 ? last & regs->ours : last;
    reg_id_t best = (reg_id_t)(DR_REG_RAX + __builtin_ctz(cheapest));
    take(at, regs, best);
    return best;
}

void
regs_reserve_this(at_t *at, regs_t *regs, reg_id_t reg)
{
    take(at, regs, reg);
}

void
regs_release(regs_t *regs, reg_id_t reg)
{
    regs->in_use &= (reg_set_t)~reg_set(reg);
}

bool
regs_in_use(const regs_t *regs, reg_id_t reg)
{
    return (regs->in_use & reg_set(reg)) != 0;
}

bool
regs_in_slot(const regs_t *regs, reg_id_t reg)
{
    return (regs->ours & reg_set(reg)) != 0;
}

void
regs_give_back(at_t *at, regs_t *regs, reg_set_t set)
{
    set &= regs->ours;
    for (int i = 0; i < REGS; i++) {
        reg_id_t reg = (reg_id_t)(DR_REG_RAX + i);
        if ((set & reg_set(reg)) != 0)
            code_load_tls(at, reg, regs_slot(reg));
    }
    regs->ours &= (reg_set_t)~set;
    regs->in_use &= (reg_set_t)~set;
}

uint
regs_ahead(const regs_t *regs)
{
    return regs->at + 1 < regs->instrs ? regs->instrs - 1 - regs->at : 0;
}

void
regs_next(at_t *at, regs_t *regs)
{
    regs_give_back(at, regs,
                   regs_ahead(regs) == 0 ? (reg_set_t)~0u : regs->uses[regs->at]);
    regs->at++;
}

void
regs_restore(void *drcontext, reg_set_t set, dr_mcontext_t *mc)
{
    /* Perhaps another thread's. */
    const uint64 *slots = (const uint64 *)(thread_of(drcontext)->base + tls_offset);
    for (int i = 0; i < REGS; i++) {
        if ((set >> i & 1) != 0)
            reg_set_value((reg_id_t)(DR_REG_RAX + i), mc, slots[i]);
    }
}

/* Where the program was stopped in the middle of a block, what it has in registers of ours is in
 * their slots. */
static bool
on_restore_state(void *drcontext, bool restore_memory, dr_restore_state_info_t *info)
{
    if (thread_of(drcontext) == NULL || !info->raw_mcontext_valid || info->fragment_info.cache_start_pc == NULL)
        return true;
    reg_set_t ours = 0;
    byte *pc = info->fragment_info.cache_start_pc;
    instr_t instr;
    instr_init(drcontext, &instr);
    while (pc != NULL && pc < info->raw_mcontext->pc) {
        instr_reset(drcontext, &instr);
        pc = decode(drcontext, pc, &instr);
        if (pc != NULL)
            ours = regs_follow(ours, &instr);
    }
    instr_free(drcontext, &instr);
    regs_restore(drcontext, ours, info->mcontext);
    return true;
}

bool
regs_init(void)
{
    return dr_raw_tls_calloc(&tls_register, &tls_offset, REGS, 0) &&
           drmgr_register_restore_state_ex_event(on_restore_state);
}

void
regs_exit(void)
{
    dr_raw_tls_cfree(tls_offset, REGS);
}
