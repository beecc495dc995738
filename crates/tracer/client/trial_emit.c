#include "trial_emit.h"

#include <cpuid.h>
#include <stddef.h>

#include "thread.h"

#define LINE_SHIFT 6

static bool has_clwb, has_cldemote;

void
trial_emit_init(void)
{
    uint a, b, c, d;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        has_clwb = (b >> 24 & 1) != 0;
        has_cldemote = (c >> 25 & 1) != 0;
    }
}

bool
trial_can_flush(trial_op_t op)
{
    return op == TRIAL_CLEAN ? has_clwb : has_cldemote;
}

uint
trial_lines(void)
{
    return trial_sites_count() * (1 + TRIAL_WAITING);
}

uint64
trial_line_kept(const void *address)
{
    return ~((uint64)address >> LINE_SHIFT);
}

/* An address that no base register has. */
static bool
is_fixed(opnd_t mem)
{
    return !opnd_is_base_disp(mem);
}

static void
load_address(at_t *at, reg_id_t reg, opnd_t mem)
{
    if (is_fixed(mem)) {
        insert(at, INSTR_CREATE_mov_imm(at->drcontext, opnd_create_reg(reg),
                                        OPND_CREATE_INT64((int64)opnd_get_addr(mem))));
        return;
    }
    opnd_set_size(&mem, OPSZ_lea);
    insert(at, INSTR_CREATE_lea(at->drcontext, opnd_create_reg(reg), mem));
}

/* Like the program's own store: faults there are faults here. */
static void
insert_store(at_t *at, instr_t *store, app_pc pc)
{
    at_flush(at);
    instrlist_meta_fault_preinsert(at->bb, at->where, INSTR_XL8(store, pc));
}

/* Gives back what the program's instruction touches, as regs_next would. */
static void
give_back_for(at_t *at, regs_t *regs)
{
    regs_give_back(at, regs,
                   regs_ahead(regs) == 0 ? (reg_set_t)~0u : regs->uses[regs->at]);
}

/* The operand, where a fixed address needs a register of ours, which is then in `*taken`. */
static opnd_t
reachable(at_t *at, regs_t *regs, opnd_t mem, reg_id_t *taken)
{
    *taken = DR_REG_NULL;
    if (!is_fixed(mem))
        return mem;
    *taken = regs_reserve(at, regs, regs->uses[regs->at]);
    load_address(at, *taken, mem);
    return opnd_create_base_disp(*taken, DR_REG_NULL, 0, 0, opnd_get_size(mem));
}

/* movnti by a register of ours. */
static void
by_register(at_t *at, regs_t *regs, const store_t *store, app_pc pc)
{
    reg_id_t taken;
    opnd_t mem = reachable(at, regs, store->mem, &taken);
    reg_id_t wide = regs_reserve(at, regs, regs->uses[regs->at]);
    reg_id_t reg = reg_resize_to_opsz(wide, opnd_get_size(mem));
    bool eight = opnd_get_size(mem) == OPSZ_8;
    if (store->form == FORM_IMMEDIATE) {
        int64 value = opnd_get_immed_int(store->src);
        insert(at, INSTR_CREATE_mov_imm(at->drcontext, opnd_create_reg(wide),
                                        OPND_CREATE_INT64(eight ? value : (int64)(uint)value)));
    } else {
        reg_id_t vector = reg_resize_to_opsz(opnd_get_reg(store->src), OPSZ_16);
        bool plain = vector <= DR_REG_XMM15;
        opnd_t from = opnd_create_reg_partial(vector, eight ? OPSZ_8 : OPSZ_4);
        int op = plain ? (eight ? OP_movq : OP_movd) : (eight ? OP_vmovq : OP_vmovd);
        if (plain && proc_has_feature(FEATURE_AVX))
            op = eight ? OP_vmovq : OP_vmovd;
        insert(at, instr_create_1dst_1src(at->drcontext, op, opnd_create_reg(reg), from));
    }
    insert_store(at, INSTR_CREATE_movnti(at->drcontext, mem, opnd_create_reg(reg)), pc);
    reg_set_t ours = reg_set(wide);
    if (taken != DR_REG_NULL)
        ours |= reg_set(taken);
    regs_give_back(at, regs, ours);
}

static instr_t *
vector_store(void *drcontext, instr_t *instr, opnd_t mem, opnd_t src)
{
    switch (instr_get_opcode(instr)) {
    case OP_movups:
    case OP_movupd:
    case OP_movaps:
    case OP_movapd:
    case OP_movdqu:
    case OP_movdqa: return INSTR_CREATE_movntps(drcontext, mem, src);
    default: return INSTR_CREATE_vmovntps(drcontext, mem, src);
    }
}

/* Leaves in rcx, where ecx tells: zero where `mem` is aligned to its size. No flags are changed. */
static void
misalignment(at_t *at, opnd_t mem)
{
    static const struct {
        opnd_size_t size;
        int scales[2]; /* moves the bits that have to be zero to the top of cl */
    } of[] = { { OPSZ_16, { 8, 2 } }, { OPSZ_32, { 8, 1 } }, { OPSZ_64, { 4, 1 } } };
    opnd_t rcx = opnd_create_reg(DR_REG_RCX), ecx = opnd_create_reg(DR_REG_ECX);
    load_address(at, DR_REG_RCX, mem);
    for (int i = 0; i < 3; i++) {
        for (int s = 0; of[i].size == opnd_get_size(mem) && s < 2; s++) {
            if (of[i].scales[s] > 1)
                insert(at, INSTR_CREATE_lea(at->drcontext, rcx,
                                            OPND_CREATE_MEM_lea(DR_REG_NULL, DR_REG_RCX, of[i].scales[s], 0)));
        }
    }
    insert(at, INSTR_CREATE_movzx(at->drcontext, ecx, opnd_create_reg(DR_REG_CL)));
}

/* Where the address is aligned; else `plain`, the program's own store. */
static void
by_vector(at_t *at, regs_t *regs, const trial_site_t *site, const store_t *store, instr_t *plain)
{
    instr_t *aligned = INSTR_CREATE_label(at->drcontext);
    reg_set_t rcx = reg_set(DR_REG_RCX);
    regs_give_back(at, regs, rcx);
    regs_reserve_this(at, regs, DR_REG_RCX);
    misalignment(at, store->mem);
    insert(at, instr_create_0dst_2src(at->drcontext, OP_jecxz, opnd_create_instr(aligned),
                                      opnd_create_reg(DR_REG_ECX)));
    insert(at, INSTR_CREATE_mov_ld(at->drcontext, opnd_create_reg(DR_REG_RCX),
                                   thread_slot(at->drcontext, TLS_RESULTS)));
    int disp = (int)(site->number * sizeof(trial_site_result_t) +
                     offsetof(trial_site_result_t, unaligned));
    insert(at, INSTR_CREATE_mov_st(at->drcontext, OPND_CREATE_MEM8(DR_REG_RCX, disp), OPND_CREATE_INT8(1)));
    regs_give_back(at, regs, rcx);
    insert(at, INSTR_CREATE_jmp(at->drcontext, opnd_create_instr(plain)));
    /* Never executed: tells those who read the code downwards, for a fault, whose rcx is from here on. */
    regs_reserve_this(at, regs, DR_REG_RCX);
    insert(at, aligned);
    regs_give_back(at, regs, rcx);
    reg_id_t taken;
    opnd_t mem = reachable(at, regs, store->mem, &taken);
    insert_store(at, vector_store(at->drcontext, at->where, mem, store->src), instr_get_app_pc(at->where));
    if (taken != DR_REG_NULL)
        regs_give_back(at, regs, reg_set(taken));
}

void
trial_emit_skip(at_t *at, regs_t *regs, const trial_site_t *site, const store_t *store)
{
    instr_t *plain = INSTR_CREATE_label(at->drcontext), *done = INSTR_CREATE_label(at->drcontext);
    give_back_for(at, regs);
    if (store->form == FORM_VECTOR)
        by_vector(at, regs, site, store, plain);
    else
        by_register(at, regs, store, instr_get_app_pc(at->where));
    insert(at, INSTR_CREATE_jmp(at->drcontext, opnd_create_instr(done)));
    insert(at, plain);
    instrlist_meta_postinsert(at->bb, at->where, done);
}

/* A line that waits to be flushed, the last that was left first. */
static opnd_t
waiting(reg_id_t area, const trial_site_t *site, uint place)
{
    uint at = trial_sites_count() + site->first * TRIAL_WAITING + place;
    return OPND_CREATE_MEM64(area, (int)(at * sizeof(uint64)));
}

/* Goes to `target`, which may be farther than that jump reaches, where rcx is zero. */
static void
go_if_zero(at_t *at, instr_t *target)
{
    instr_t *zero = INSTR_CREATE_label(at->drcontext), *on = INSTR_CREATE_label(at->drcontext);
    insert(at, INSTR_CREATE_jecxz(at->drcontext, opnd_create_instr(zero)));
    insert(at, INSTR_CREATE_jmp(at->drcontext, opnd_create_instr(on)));
    insert(at, zero);
    insert(at, INSTR_CREATE_jmp(at->drcontext, opnd_create_instr(target)));
    insert(at, on);
}

void
trial_emit_flush(at_t *at, regs_t *regs, const trial_site_t *site, const store_t *store)
{
    instr_t *same = INSTR_CREATE_label(at->drcontext);
    opnd_t rcx = opnd_create_reg(DR_REG_RCX), mem = store->mem;
    reg_set_t operand = reg_set_of_opnd(mem);
    int disp = (int)(site->number * sizeof(uint64));
    regs_give_back(at, regs, operand | reg_set(DR_REG_RCX));
    regs_reserve_this(at, regs, DR_REG_RCX);
    reg_id_t line = regs_reserve(at, regs, operand);
    reg_id_t area = regs_reserve(at, regs, operand);
    opnd_t kept = OPND_CREATE_MEM64(area, disp), number = opnd_create_reg(line);
    load_address(at, line, mem);
    insert(at, INSTR_CREATE_mov_imm(at->drcontext, opnd_create_reg(DR_REG_ECX),
                                    OPND_CREATE_INT32(LINE_SHIFT)));
    insert(at, INSTR_CREATE_shrx(at->drcontext, number, number, rcx));
    insert(at, INSTR_CREATE_mov_ld(at->drcontext, opnd_create_reg(area),
                                   thread_slot(at->drcontext, TLS_COUNTS)));
    /* line - last = line + ~last + 1. */
    insert(at, INSTR_CREATE_mov_ld(at->drcontext, rcx, kept));
    insert(at, INSTR_CREATE_lea(at->drcontext, rcx, OPND_CREATE_MEM_lea(line, DR_REG_RCX, 1, 1)));
    go_if_zero(at, same);
    insert(at, INSTR_CREATE_mov_ld(at->drcontext, rcx, kept));
    insert(at, INSTR_CREATE_not(at->drcontext, number));
    insert(at, INSTR_CREATE_mov_st(at->drcontext, kept, number));
    insert(at, INSTR_CREATE_not(at->drcontext, rcx));
    insert(at, INSTR_CREATE_mov_ld(at->drcontext, number, rcx));
    /* Once for all stores of the finding: flushing a line again takes far longer. */
    insert(at, INSTR_CREATE_mov_ld(at->drcontext, rcx, waiting(area, site, 0)));
    insert(at, INSTR_CREATE_lea(at->drcontext, rcx, OPND_CREATE_MEM_lea(line, DR_REG_RCX, 1, 1)));
    go_if_zero(at, same);
    insert(at, INSTR_CREATE_mov_ld(at->drcontext, rcx, number));
    insert(at, INSTR_CREATE_not(at->drcontext, rcx));
    for (uint place = 0; place < TRIAL_WAITING; place++) {
        insert(at, INSTR_CREATE_mov_ld(at->drcontext, number, waiting(area, site, place)));
        insert(at, INSTR_CREATE_mov_st(at->drcontext, waiting(area, site, place), rcx));
        insert(at, INSTR_CREATE_mov_ld(at->drcontext, rcx, number));
    }
    insert(at, INSTR_CREATE_not(at->drcontext, rcx));
    insert(at, INSTR_CREATE_mov_imm(at->drcontext, opnd_create_reg(reg_64_to_32(line)),
                                    OPND_CREATE_INT32(LINE_SHIFT)));
    insert(at, INSTR_CREATE_shlx(at->drcontext, rcx, rcx, number));
    opnd_t left = opnd_create_base_disp(DR_REG_RCX, DR_REG_NULL, 0, 0, OPSZ_clflush);
    /* The program may have given the line's memory back (trial_flush_faulted). */
    int op = site->op == TRIAL_CLEAN ? OP_clwb : OP_cldemote;
    insert_store(at, instr_create_0dst_1src(at->drcontext, op, left), instr_get_app_pc(at->where));
    insert(at, same);
    regs_release(regs, area);
    regs_release(regs, line);
    regs_release(regs, DR_REG_RCX);
}
