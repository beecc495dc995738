#include "trial_store.h"

#include "access.h"
#include "wire.h"

static bool
is_string(int op)
{
    return op == OP_movs || op == OP_stos || op == OP_rep_movs || op == OP_rep_stos || op == OP_ins ||
           op == OP_rep_ins;
}

static bool
pushes(int op)
{
    switch (op) {
    case OP_push:
    case OP_push_imm:
    case OP_pusha:
    case OP_pushf:
    case OP_enter:
    case OP_call:
    case OP_call_ind:
    case OP_call_far:
    case OP_call_far_ind: return true;
    default: return false;
    }
}

/* What holds for every change. */
static store_t
store_of(instr_t *instr)
{
    store_t store = { .fate = SITE_CHANGED, .mem = opnd_create_null(), .src = opnd_create_null() };
    int op = instr_get_opcode(instr);
    for (int i = 0; i < instr_num_dsts(instr); i++) {
        if (opnd_is_memory_reference(instr_get_dst(instr, i)))
            store.mem = instr_get_dst(instr, i);
    }
    access_t access = access_of(instr);
    if (!instr_writes_memory(instr) || opnd_is_null(store.mem) || access.shape == SHAPE_NONE)
        store.fate = SITE_NO_STORE;
    else if (access.kind == KIND_ATOMIC)
        store.fate = SITE_ATOMIC;
    else if (is_string(op))
        store.fate = SITE_STRING;
    else if (pushes(op) || (opnd_is_base_disp(store.mem) && opnd_get_base(store.mem) == DR_REG_RSP))
        store.fate = SITE_STACK;
    else if (opnd_is_far_base_disp(store.mem))
        store.fate = SITE_THREAD_LOCAL;
    else if (access.shape == SHAPE_TOP_MASK || access.shape == SHAPE_GATHER)
        store.fate = SITE_MASKED;
    else if (access.shape != SHAPE_PLAIN && access.shape != SHAPE_BIT_MASK &&
             access.shape != SHAPE_PACKED)
        store.fate = SITE_NO_FORM;
    return store;
}

/* The register or constant that is stored; of masked forms, the mask stands before it. */
static opnd_t
source(instr_t *instr)
{
    opnd_t src = instr_get_src(instr, instr_num_srcs(instr) - 1);
    for (int i = 0; i < instr_num_srcs(instr); i++) {
        opnd_t other = instr_get_src(instr, i);
        if (opnd_is_reg(other) && reg_is_simd(opnd_get_reg(other)))
            src = other;
    }
    return src;
}

static site_fate_t
form_of(int op, store_t *store)
{
    uint bytes = opnd_size_in_bytes(opnd_get_size(store->mem));
    /* To the engine, MMX registers are SIMD registers, too. */
    bool vector = opnd_is_reg(store->src) && reg_is_simd(opnd_get_reg(store->src)) &&
        !reg_is_mmx(opnd_get_reg(store->src));
    switch (op) {
    case OP_mov_st:
    case OP_mov_imm:
        if (bytes < 4)
            return SITE_SMALL;
        store->form = opnd_is_immed_int(store->src) ? FORM_IMMEDIATE : FORM_GENERAL;
        return opnd_is_immed_int(store->src) ||
                (opnd_is_reg(store->src) && reg_is_gpr(opnd_get_reg(store->src)))
            ? SITE_CHANGED
            : SITE_NO_FORM;
    case OP_movsd:
    case OP_movss:
    case OP_movq:
    case OP_movd:
    case OP_movlps:
    case OP_movlpd:
    case OP_vmovsd:
    case OP_vmovss:
    case OP_vmovq:
    case OP_vmovd:
    case OP_vmovlps:
    case OP_vmovlpd:
        store->form = FORM_SCALAR;
        return vector && (bytes == 4 || bytes == 8) ? SITE_CHANGED : SITE_NO_FORM;
    case OP_movups:
    case OP_movupd:
    case OP_movaps:
    case OP_movapd:
    case OP_movdqu:
    case OP_movdqa:
    case OP_vmovups:
    case OP_vmovupd:
    case OP_vmovaps:
    case OP_vmovapd:
    case OP_vmovdqu:
    case OP_vmovdqa:
    case OP_vmovdqu8:
    case OP_vmovdqu16:
    case OP_vmovdqu32:
    case OP_vmovdqu64:
    case OP_vmovdqa32:
    case OP_vmovdqa64:
        store->form = FORM_VECTOR;
        return vector && (bytes == 16 || bytes == 32 || bytes == 64) ? SITE_CHANGED : SITE_NO_FORM;
    default: return bytes < 4 ? SITE_SMALL : SITE_NO_FORM;
    }
}

store_t
trial_skipped(instr_t *instr)
{
    store_t store = store_of(instr);
    if (store.fate != SITE_CHANGED)
        return store;
    access_t access = access_of(instr);
    if (access.kind == KIND_NT_STORE)
        store.fate = SITE_NON_TEMPORAL;
    else if (access.shape != SHAPE_PLAIN)
        store.fate = SITE_MASKED;
    else if (instr_reads_memory(instr))
        store.fate = SITE_READS;
    if (store.fate != SITE_CHANGED || instr_num_srcs(instr) == 0) {
        store.fate = store.fate == SITE_CHANGED ? SITE_NO_FORM : store.fate;
        return store;
    }
    store.src = source(instr);
    store.fate = form_of(instr_get_opcode(instr), &store);
    return store;
}

store_t
trial_flushed(instr_t *instr)
{
    store_t store = store_of(instr);
    if (store.fate == SITE_CHANGED && !proc_has_feature(FEATURE_BMI2))
        store.fate = SITE_NO_INSTRUCTION;
    return store;
}

bool
trial_stores(instr_t *instr, bool *atomic)
{
    access_t access = access_of(instr);
    *atomic = access.kind == KIND_ATOMIC ||
        (access.shape == SHAPE_FENCE && access.kind != KIND_LFENCE);
    return *atomic ||
        (access.shape != SHAPE_NONE && access.shape != SHAPE_FLUSH && access.shape != SHAPE_REGION &&
         access.kind != KIND_NT_STORE && instr_writes_memory(instr) &&
         !pushes(instr_get_opcode(instr)));
}
