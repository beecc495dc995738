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
load_address(void *drcontext, instrlist_t *bb, instr_t *where, reg_id_t reg, opnd_t mem)
{
    if (is_fixed(mem)) {
        insert(bb, where,
               INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(reg),
                                    OPND_CREATE_INT64((int64)opnd_get_addr(mem))));
        return;
    }
    opnd_set_size(&mem, OPSZ_lea);
    insert(bb, where, INSTR_CREATE_lea(drcontext, opnd_create_reg(reg), mem));
}

/* Like the program's own store: faults there are faults here. */
static void
insert_store(instrlist_t *bb, instr_t *where, instr_t *store, app_pc pc)
{
    instrlist_meta_fault_preinsert(bb, where, INSTR_XL8(store, pc));
}

/* Gives back what the program's instruction touches, as regs_next would. */
static void
give_back_for(void *drcontext, instrlist_t *bb, instr_t *where, regs_t *regs)
{
    regs_give_back(drcontext, bb, where, regs,
                   regs_ahead(regs) == 0 ? (reg_set_t)~0u : regs->uses[regs->at]);
}

/* The operand, where a fixed address needs a register of ours, which is then in `*taken`. */
static opnd_t
reachable(void *drcontext, instrlist_t *bb, instr_t *where, regs_t *regs, opnd_t mem,
          reg_id_t *taken)
{
    *taken = DR_REG_NULL;
    if (!is_fixed(mem))
        return mem;
    *taken = regs_reserve(drcontext, bb, where, regs, regs->uses[regs->at]);
    load_address(drcontext, bb, where, *taken, mem);
    return opnd_create_base_disp(*taken, DR_REG_NULL, 0, 0, opnd_get_size(mem));
}

/* movnti by a register of ours. */
static void
by_register(void *drcontext, instrlist_t *bb, instr_t *where, regs_t *regs, const store_t *store,
            app_pc pc)
{
    reg_id_t taken;
    opnd_t mem = reachable(drcontext, bb, where, regs, store->mem, &taken);
    reg_id_t wide = regs_reserve(drcontext, bb, where, regs, regs->uses[regs->at]);
    reg_id_t reg = reg_resize_to_opsz(wide, opnd_get_size(mem));
    bool eight = opnd_get_size(mem) == OPSZ_8;
    if (store->form == FORM_IMMEDIATE) {
        int64 value = opnd_get_immed_int(store->src);
        insert(bb, where,
               INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(wide),
                                    OPND_CREATE_INT64(eight ? value : (int64)(uint)value)));
    } else {
        reg_id_t vector = reg_resize_to_opsz(opnd_get_reg(store->src), OPSZ_16);
        bool plain = vector <= DR_REG_XMM15;
        opnd_t from = opnd_create_reg_partial(vector, eight ? OPSZ_8 : OPSZ_4);
        int op = plain ? (eight ? OP_movq : OP_movd) : (eight ? OP_vmovq : OP_vmovd);
        if (plain && proc_has_feature(FEATURE_AVX))
            op = eight ? OP_vmovq : OP_vmovd;
        insert(bb, where, instr_create_1dst_1src(drcontext, op, opnd_create_reg(reg), from));
    }
    insert_store(bb, where, INSTR_CREATE_movnti(drcontext, mem, opnd_create_reg(reg)), pc);
    reg_set_t ours = reg_set(wide);
    if (taken != DR_REG_NULL)
        ours |= reg_set(taken);
    regs_give_back(drcontext, bb, where, regs, ours);
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
misalignment(void *drcontext, instrlist_t *bb, instr_t *where, opnd_t mem)
{
    static const struct {
        opnd_size_t size;
        int scales[2]; /* moves the bits that have to be zero to the top of cl */
    } of[] = { { OPSZ_16, { 8, 2 } }, { OPSZ_32, { 8, 1 } }, { OPSZ_64, { 4, 1 } } };
    opnd_t rcx = opnd_create_reg(DR_REG_RCX), ecx = opnd_create_reg(DR_REG_ECX);
    load_address(drcontext, bb, where, DR_REG_RCX, mem);
    for (int i = 0; i < 3; i++) {
        for (int s = 0; of[i].size == opnd_get_size(mem) && s < 2; s++) {
            if (of[i].scales[s] > 1)
                insert(bb, where,
                       INSTR_CREATE_lea(drcontext, rcx,
                                        OPND_CREATE_MEM_lea(DR_REG_NULL, DR_REG_RCX,
                                                            of[i].scales[s], 0)));
        }
    }
    insert(bb, where, INSTR_CREATE_movzx(drcontext, ecx, opnd_create_reg(DR_REG_CL)));
}

/* Where the address is aligned; else `plain`, the program's own store. */
static void
by_vector(void *drcontext, instrlist_t *bb, instr_t *instr, regs_t *regs,
          const trial_site_t *site, const store_t *store, instr_t *plain)
{
    instr_t *aligned = INSTR_CREATE_label(drcontext);
    reg_set_t rcx = reg_set(DR_REG_RCX);
    regs_give_back(drcontext, bb, instr, regs, rcx);
    regs_reserve_this(drcontext, bb, instr, regs, DR_REG_RCX);
    misalignment(drcontext, bb, instr, store->mem);
    insert(bb, instr,
           instr_create_0dst_2src(drcontext, OP_jecxz, opnd_create_instr(aligned),
                                  opnd_create_reg(DR_REG_ECX)));
    insert(bb, instr,
           INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(DR_REG_RCX),
                               thread_slot(drcontext, TLS_RESULTS)));
    int at = (int)(site->number * sizeof(trial_site_result_t) +
                   offsetof(trial_site_result_t, unaligned));
    insert(bb, instr,
           INSTR_CREATE_mov_st(drcontext, OPND_CREATE_MEM8(DR_REG_RCX, at), OPND_CREATE_INT8(1)));
    regs_give_back(drcontext, bb, instr, regs, rcx);
    insert(bb, instr, INSTR_CREATE_jmp(drcontext, opnd_create_instr(plain)));
    /* Never executed: tells those who read the code downwards, for a fault, whose rcx is from here on. */
    regs_reserve_this(drcontext, bb, instr, regs, DR_REG_RCX);
    insert(bb, instr, aligned);
    regs_give_back(drcontext, bb, instr, regs, rcx);
    reg_id_t taken;
    opnd_t mem = reachable(drcontext, bb, instr, regs, store->mem, &taken);
    insert_store(bb, instr, vector_store(drcontext, instr, mem, store->src),
                 instr_get_app_pc(instr));
    if (taken != DR_REG_NULL)
        regs_give_back(drcontext, bb, instr, regs, reg_set(taken));
}

void
trial_emit_skip(void *drcontext, instrlist_t *bb, instr_t *instr, regs_t *regs,
                const trial_site_t *site, const store_t *store)
{
    instr_t *plain = INSTR_CREATE_label(drcontext), *done = INSTR_CREATE_label(drcontext);
    give_back_for(drcontext, bb, instr, regs);
    if (store->form == FORM_VECTOR)
        by_vector(drcontext, bb, instr, regs, site, store, plain);
    else
        by_register(drcontext, bb, instr, regs, store, instr_get_app_pc(instr));
    insert(bb, instr, INSTR_CREATE_jmp(drcontext, opnd_create_instr(done)));
    insert(bb, instr, plain);
    instrlist_meta_postinsert(bb, instr, done);
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
go_if_zero(void *drcontext, instrlist_t *bb, instr_t *where, instr_t *target)
{
    instr_t *zero = INSTR_CREATE_label(drcontext), *on = INSTR_CREATE_label(drcontext);
    insert(bb, where, INSTR_CREATE_jecxz(drcontext, opnd_create_instr(zero)));
    insert(bb, where, INSTR_CREATE_jmp(drcontext, opnd_create_instr(on)));
    insert(bb, where, zero);
    insert(bb, where, INSTR_CREATE_jmp(drcontext, opnd_create_instr(target)));
    insert(bb, where, on);
}

void
trial_emit_flush(void *drcontext, instrlist_t *bb, instr_t *instr, regs_t *regs,
                 const trial_site_t *site, const store_t *store)
{
    instr_t *same = INSTR_CREATE_label(drcontext);
    opnd_t rcx = opnd_create_reg(DR_REG_RCX), mem = store->mem;
    reg_set_t operand = reg_set_of_opnd(mem);
    int at = (int)(site->number * sizeof(uint64));
    regs_give_back(drcontext, bb, instr, regs, operand | reg_set(DR_REG_RCX));
    regs_reserve_this(drcontext, bb, instr, regs, DR_REG_RCX);
    reg_id_t line = regs_reserve(drcontext, bb, instr, regs, operand);
    reg_id_t area = regs_reserve(drcontext, bb, instr, regs, operand);
    opnd_t kept = OPND_CREATE_MEM64(area, at), number = opnd_create_reg(line);
    load_address(drcontext, bb, instr, line, mem);
    insert(bb, instr,
           INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(DR_REG_ECX),
                                OPND_CREATE_INT32(LINE_SHIFT)));
    insert(bb, instr, INSTR_CREATE_shrx(drcontext, number, number, rcx));
    insert(bb, instr,
           INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(area),
                               thread_slot(drcontext, TLS_COUNTS)));
    /* line - last = line + ~last + 1. */
    insert(bb, instr, INSTR_CREATE_mov_ld(drcontext, rcx, kept));
    insert(bb, instr,
           INSTR_CREATE_lea(drcontext, rcx, OPND_CREATE_MEM_lea(line, DR_REG_RCX, 1, 1)));
    go_if_zero(drcontext, bb, instr, same);
    insert(bb, instr, INSTR_CREATE_mov_ld(drcontext, rcx, kept));
    insert(bb, instr, INSTR_CREATE_not(drcontext, number));
    insert(bb, instr, INSTR_CREATE_mov_st(drcontext, kept, number));
    insert(bb, instr, INSTR_CREATE_not(drcontext, rcx));
    insert(bb, instr, INSTR_CREATE_mov_ld(drcontext, number, rcx));
    /* Once for all stores of the finding: flushing a line again takes far longer. */
    insert(bb, instr, INSTR_CREATE_mov_ld(drcontext, rcx, waiting(area, site, 0)));
    insert(bb, instr,
           INSTR_CREATE_lea(drcontext, rcx, OPND_CREATE_MEM_lea(line, DR_REG_RCX, 1, 1)));
    go_if_zero(drcontext, bb, instr, same);
    insert(bb, instr, INSTR_CREATE_mov_ld(drcontext, rcx, number));
    insert(bb, instr, INSTR_CREATE_not(drcontext, rcx));
    for (uint place = 0; place < TRIAL_WAITING; place++) {
        insert(bb, instr, INSTR_CREATE_mov_ld(drcontext, number, waiting(area, site, place)));
        insert(bb, instr, INSTR_CREATE_mov_st(drcontext, waiting(area, site, place), rcx));
        insert(bb, instr, INSTR_CREATE_mov_ld(drcontext, rcx, number));
    }
    insert(bb, instr, INSTR_CREATE_not(drcontext, rcx));
    insert(bb, instr,
           INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(reg_64_to_32(line)),
                                OPND_CREATE_INT32(LINE_SHIFT)));
    insert(bb, instr, INSTR_CREATE_shlx(drcontext, rcx, rcx, number));
    opnd_t left = opnd_create_base_disp(DR_REG_RCX, DR_REG_NULL, 0, 0, OPSZ_clflush);
    /* The program may have given the line's memory back (trial_flush_faulted). */
    insert_store(bb, instr,
                 instr_create_0dst_1src(drcontext, site->op == TRIAL_CLEAN ? OP_clwb : OP_cldemote,
                                        left),
                 instr_get_app_pc(instr));
    insert(bb, instr, same);
    regs_release(regs, area);
    regs_release(regs, line);
    regs_release(regs, DR_REG_RCX);
}
