#define _GNU_SOURCE 1
#include "unknown_run.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Pages with code and, in its reach, the registers. */
struct stub_t {
    dr_zmm_t simd[MCXT_NUM_SIMD_SLOTS];
    dr_opmask_t masks[MCXT_NUM_OPMASK_SLOTS];
    uint64 gpr[16]; /* in the order of their encoding */
    uint64 flags;
    uint64 host_sp;
    uint64 refused; /* the processor does not know the instruction either */
    bool proven;    /* it was executed before */
    bool in_reach;  /* of an operand: not the engine's memory for code */
    byte *insn, *bail;
    void (*run)(void);
    byte code[];
};
#define STUB_BYTES 8192

/* Of the flags, those that a program sets at will: status and direction. */
#define FLAGS_MASK 0xcd5ull

static opnd_t
memory(void *address, opnd_size_t size)
{
    return opnd_create_rel_addr(address, size);
}

static void
move_vectors(void *drcontext, instrlist_t *code, stub_t *stub, bool load)
{
    bool wide = proc_has_feature(FEATURE_AVX512F);
    for (uint i = 0; i < (wide ? 32 : 16); i++) {
        instr_t *instr;
        if (wide) {
            opnd_t reg = opnd_create_reg((reg_id_t)(DR_REG_START_ZMM + i));
            opnd_t mem = memory(&stub->simd[i], OPSZ_64), all = opnd_create_reg(DR_REG_K0);
            instr = load ? INSTR_CREATE_vmovdqu64_mask(drcontext, reg, all, mem)
                         : INSTR_CREATE_vmovdqu64_mask(drcontext, mem, all, reg);
        } else if (proc_has_feature(FEATURE_AVX)) {
            opnd_t reg = opnd_create_reg((reg_id_t)(DR_REG_START_YMM + i));
            opnd_t mem = memory(&stub->simd[i], OPSZ_32);
            instr = load ? INSTR_CREATE_vmovdqu(drcontext, reg, mem)
                         : INSTR_CREATE_vmovdqu(drcontext, mem, reg);
        } else {
            opnd_t reg = opnd_create_reg((reg_id_t)(DR_REG_START_XMM + i));
            opnd_t mem = memory(&stub->simd[i], OPSZ_16);
            instr = load ? INSTR_CREATE_movdqu(drcontext, reg, mem)
                         : INSTR_CREATE_movdqu(drcontext, mem, reg);
        }
        instrlist_append(code, instr);
    }
    bool long_masks = proc_has_feature(FEATURE_AVX512BW);
    for (uint i = 0; wide && i < 8; i++) {
        opnd_t reg = opnd_create_reg((reg_id_t)(DR_REG_START_OPMASK + i));
        opnd_t mem = memory(&stub->masks[i], long_masks ? OPSZ_8 : OPSZ_2);
        opnd_t dst = load ? reg : mem, src = load ? mem : reg;
        instrlist_append(code, long_masks ? INSTR_CREATE_kmovq(drcontext, dst, src)
                                          : INSTR_CREATE_kmovw(drcontext, dst, src));
    }
}

static void
move_gprs(void *drcontext, instrlist_t *code, stub_t *stub, bool load)
{
    for (uint i = 0; i < 16; i++) {
        opnd_t reg = opnd_create_reg((reg_id_t)(DR_REG_RAX + i));
        opnd_t mem = memory(&stub->gpr[i], OPSZ_8);
        instrlist_append(code, load ? INSTR_CREATE_mov_ld(drcontext, reg, mem)
                                    : INSTR_CREATE_mov_st(drcontext, mem, reg));
    }
}

static const reg_id_t kept[] = { DR_REG_RBX, DR_REG_RBP, DR_REG_R12,
                                 DR_REG_R13, DR_REG_R14, DR_REG_R15 };
#define N_KEPT (sizeof(kept) / sizeof(kept[0]))

static byte *
encode_front(void *drcontext, stub_t *stub, byte *at)
{
    opnd_t sp = opnd_create_reg(DR_REG_RSP), host_sp = memory(&stub->host_sp, OPSZ_8);
    instrlist_t *code = instrlist_create(drcontext);
    for (uint i = 0; i < N_KEPT; i++)
        instrlist_append(code, INSTR_CREATE_push(drcontext, opnd_create_reg(kept[i])));
    instrlist_append(code, INSTR_CREATE_pushf(drcontext));
    instrlist_append(code, INSTR_CREATE_mov_st(drcontext, host_sp, sp));
    move_vectors(drcontext, code, stub, true);
    instrlist_append(code, INSTR_CREATE_push(drcontext, memory(&stub->flags, OPSZ_8)));
    instrlist_append(code, INSTR_CREATE_popf(drcontext));
    move_gprs(drcontext, code, stub, true);
    at = instrlist_encode(drcontext, code, at, false);
    instrlist_clear_and_destroy(drcontext, code);
    return at;
}

static void
append_return(void *drcontext, instrlist_t *code)
{
    instrlist_append(code, INSTR_CREATE_popf(drcontext));
    for (uint i = N_KEPT; i-- > 0;)
        instrlist_append(code, INSTR_CREATE_pop(drcontext, opnd_create_reg(kept[i])));
    instrlist_append(code, INSTR_CREATE_ret(drcontext));
}

static void
encode_back(void *drcontext, stub_t *stub, byte *at)
{
    opnd_t sp = opnd_create_reg(DR_REG_RSP), host_sp = memory(&stub->host_sp, OPSZ_8);
    instrlist_t *code = instrlist_create(drcontext);
    move_gprs(drcontext, code, stub, false);
    instrlist_append(code, INSTR_CREATE_mov_ld(drcontext, sp, host_sp));
    instrlist_append(code, INSTR_CREATE_pushf(drcontext));
    instrlist_append(code, INSTR_CREATE_pop(drcontext, memory(&stub->flags, OPSZ_8)));
    move_vectors(drcontext, code, stub, false);
    append_return(drcontext, code);
    at = instrlist_encode(drcontext, code, at, false);
    instrlist_clear(drcontext, code);
    stub->bail = at;
    instrlist_append(code, INSTR_CREATE_mov_ld(drcontext, sp, host_sp));
    instrlist_append(code, INSTR_CREATE_mov_st(drcontext, memory(&stub->refused, OPSZ_8),
                                               OPND_CREATE_INT32(1)));
    append_return(drcontext, code);
    instrlist_encode(drcontext, code, at, false);
    instrlist_clear_and_destroy(drcontext, code);
}

/* The engine's own faults do not include the illegal instruction: for the first try at each, a
 * handler stands before the engine's. It must leave the stack as it is, as the engine's handler
 * finds the signal's frame by it. */
#define UCONTEXT_RIP "168"
__attribute__((used)) static byte *unknown_probed, *unknown_bail;
__attribute__((used)) static void *unknown_next_handler;
void unknown_on_illegal(int sig, siginfo_t *info, void *context);
__asm__(".text\n"
        ".hidden unknown_on_illegal\n .globl unknown_on_illegal\n"
        "unknown_on_illegal:\n"
        "mov " UCONTEXT_RIP "(%rdx), %rax\n"
        "cmp unknown_probed(%rip), %rax\n jne 1f\n"
        "mov unknown_bail(%rip), %rax\n"
        "mov %rax, " UCONTEXT_RIP "(%rdx)\n ret\n"
        "1: jmp *unknown_next_handler(%rip)\n");
_Static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP]) == 168, "place of rip");

/* The kernel's form. */
typedef struct {
    void *handler;
    uint64 flags;
    void *restorer;
    uint64 mask;
} action_t;

/* Puts the handler before the engine's, whose action goes to `engine`; false if it cannot. */
static bool
probe_begin(stub_t *stub, action_t *engine)
{
    if (syscall(SYS_rt_sigaction, SIGILL, NULL, engine, sizeof(engine->mask)) != 0)
        return false;
    action_t own = *engine;
    own.handler = (void *)unknown_on_illegal;
    unknown_next_handler = engine->handler;
    unknown_probed = stub->insn;
    unknown_bail = stub->bail;
    return syscall(SYS_rt_sigaction, SIGILL, &own, NULL, sizeof(own.mask)) == 0;
}

static void
probe_end(const action_t *engine)
{
    syscall(SYS_rt_sigaction, SIGILL, engine, NULL, sizeof(engine->mask));
}

/* Memory at an address from which `target` is in reach of 32 bits. */
static stub_t *
allocate(app_pc target)
{
    const uint prot = DR_MEMPROT_READ | DR_MEMPROT_WRITE | DR_MEMPROT_EXEC;
    const ptr_uint_t step = 8 * 1024 * 1024;
    if (target == NULL)
        return dr_nonheap_alloc(STUB_BYTES, prot);
    ptr_uint_t page = (ptr_uint_t)target & ~(ptr_uint_t)4095;
    for (ptr_uint_t away = step; away < 0x7f000000; away += step) {
        void *found = dr_raw_mem_alloc(STUB_BYTES, prot, (void *)(page + away));
        if (found == NULL && page > away)
            found = dr_raw_mem_alloc(STUB_BYTES, prot, (void *)(page - away));
        if (found != NULL)
            return found;
    }
    return NULL;
}

stub_t *
stub_make(app_pc pc, const byte *code, insn_length_t insn)
{
    void *drcontext = dr_get_current_drcontext();
    app_pc target = NULL;
    int disp = 0;
    if (insn.rip_disp != 0) {
        memcpy(&disp, code + insn.rip_disp, sizeof(disp));
        target = pc + insn.length + disp;
    }
    stub_t *stub = allocate(target);
    if (stub == NULL)
        return NULL;
    /* The engine's memory may have been something else's before. */
    stub->proven = false;
    stub->in_reach = target != NULL;
    byte *at = encode_front(drcontext, stub, stub->code);
    stub->insn = at;
    memcpy(at, code, insn.length);
    if (insn.rip_disp != 0) {
        disp = (int)(target - (at + insn.length));
        memcpy(at + insn.rip_disp, &disp, sizeof(disp));
    }
    encode_back(drcontext, stub, at + insn.length);
    stub->run = (void (*)(void))(ptr_uint_t)stub->code;
    return stub;
}

void
stub_free(stub_t *stub)
{
    if (stub->in_reach)
        dr_raw_mem_free(stub, STUB_BYTES);
    else
        dr_nonheap_free(stub, STUB_BYTES);
}

bool
stub_run(void *drcontext, stub_t *stub, dr_mcontext_t *mc)
{
    uint64 *gprs[16] = { &mc->rax, &mc->rcx, &mc->rdx, &mc->rbx, &mc->rsp, &mc->rbp,
                         &mc->rsi, &mc->rdi, &mc->r8,  &mc->r9,  &mc->r10, &mc->r11,
                         &mc->r12, &mc->r13, &mc->r14, &mc->r15 };
    /* Across the fault's long jump. */
    volatile bool fine = true;
    for (int i = 0; i < 16; i++)
        stub->gpr[i] = *gprs[i];
    stub->flags = (mc->xflags & FLAGS_MASK) | 2;
    memcpy(stub->simd, mc->simd, sizeof(stub->simd));
    memcpy(stub->masks, mc->opmask, sizeof(stub->masks));
    stub->refused = 0;
    action_t engine;
    bool probing = !stub->proven;
    if (probing && !probe_begin(stub, &engine))
        return false;
    DR_TRY_EXCEPT(drcontext, { stub->run(); }, { fine = false; });
    if (probing)
        probe_end(&engine);
    if (!fine || stub->refused)
        return false;
    stub->proven = true;
    for (int i = 0; i < 16; i++)
        *gprs[i] = stub->gpr[i];
    mc->xflags = (mc->xflags & ~FLAGS_MASK) | (stub->flags & FLAGS_MASK);
    memcpy(mc->simd, stub->simd, sizeof(stub->simd));
    memcpy(mc->opmask, stub->masks, sizeof(stub->masks));
    return true;
}
