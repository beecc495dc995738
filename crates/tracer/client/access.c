#include "access.h"

#include "drutil.h"
#include "wire.h"

/* nopl disp32(%rax) with this upper half of the displacement is a region mark
 * (include/prestore_region.h). */
#define REGION_MAGIC 0x5053

uint
program_length(void *drcontext, instr_t *instr)
{
    if (instr_raw_bits_valid(instr))
        return (uint)instr_length(drcontext, instr);
    return (uint)decode_sizeof(drcontext, instr_get_app_pc(instr), NULL, NULL);
}

bool
is_mask_reg(reg_id_t reg)
{
    return reg >= DR_REG_START_OPMASK && reg <= DR_REG_STOP_OPMASK;
}

bool
reads_its_target(instr_t *instr)
{
    /* The engine's tables have these the wrong way round. */
    int op = instr_get_opcode(instr);
    return op == OP_movntdqa || op == OP_vmovntdqa || op == OP_vexpandps || op == OP_vexpandpd;
}

/* Frame pointers that an `enter` copies before its own. */
static uint
nesting(instr_t *instr)
{
    for (int i = 0; i < instr_num_srcs(instr); i++) {
        opnd_t src = instr_get_src(instr, i);
        if (opnd_is_immed_int(src) && opnd_get_size(src) == OPSZ_1)
            return (uint)opnd_get_immed_int(src) & 31;
    }
    return 0;
}

static bool
has_immediate(instr_t *instr)
{
    for (int i = 0; i < instr_num_srcs(instr); i++) {
        if (opnd_is_immed_int(instr_get_src(instr, i)))
            return true;
    }
    return false;
}

/* What the engine's tables have too long or too short; 0: nothing that is known. */
static uint
true_bytes(instr_t *instr)
{
    bool to_register = instr_num_dsts(instr) > 0 && opnd_is_reg(instr_get_dst(instr, 0));
    reg_id_t to = to_register ? opnd_get_reg(instr_get_dst(instr, 0)) : DR_REG_NULL;
    switch (instr_get_opcode(instr)) {
    case OP_mov_seg: return 2;
    case OP_cvttps2pi: return 8;
    case OP_punpcklbw:
    case OP_punpcklwd:
    case OP_punpckldq: return reg_is_mmx(to) ? 4 : 0;
    case OP_vmovddup: return reg_is_strictly_xmm(to) ? 8 : 0;
    case OP_vinsertf32x8:
    case OP_vinsertf64x4:
    case OP_vinserti32x8:
    case OP_vinserti64x4: return 32;
    case OP_vpsllw:
    case OP_vpslld:
    case OP_vpsllq:
    case OP_vpsraw:
    case OP_vpsrad:
    case OP_vpsrlw:
    case OP_vpsrld:
    case OP_vpsrlq: return has_immediate(instr) ? 0 : 16; /* how far, for all lanes */
    default: return 0;
    }
}

uint
access_bytes(instr_t *instr, opnd_t mem)
{
    /* The engine does not tell. */
    if (instr_get_opcode(instr) == OP_enter)
        return (1 + nesting(instr)) * (uint)sizeof(uint64);
    uint bytes = true_bytes(instr);
    return bytes != 0 ? bytes : drutil_opnd_mem_size_in_bytes(mem, instr);
}

int64
moved_stack(instr_t *instr, opnd_t mem)
{
    if (instr_get_opcode(instr) == OP_enter)
        return -(int64)(nesting(instr) * sizeof(uint64));
    bool pops = instr_get_opcode(instr) == OP_pop && opnd_is_base_disp(mem) &&
                reg_to_pointer_sized(opnd_get_base(mem)) == DR_REG_RSP;
    return pops ? opnd_size_in_bytes(opnd_get_size(mem)) : 0;
}

/* Bytes a lane of instructions that leave out the lanes their mask leaves out; 0 for others. */
static byte
lane_bytes(int op)
{
    switch (op) {
    case OP_vmovdqu8:
    case OP_vpmovwb:
    case OP_vpmovswb:
    case OP_vpmovuswb:
    case OP_vpmovdb:
    case OP_vpmovsdb:
    case OP_vpmovusdb:
    case OP_vpmovqb:
    case OP_vpmovsqb:
    case OP_vpmovusqb: return 1;
    case OP_vmovdqu16:
    case OP_vpmovdw:
    case OP_vpmovsdw:
    case OP_vpmovusdw:
    case OP_vpmovqw:
    case OP_vpmovsqw:
    case OP_vpmovusqw:
    case OP_vmovsh:
    case OP_vcvtps2ph: return 2;
    case OP_vmovdqu32:
    case OP_vmovdqa32:
    case OP_vmovups:
    case OP_vmovaps:
    case OP_vmovss:
    case OP_vpmovqd:
    case OP_vpmovsqd:
    case OP_vpmovusqd:
    case OP_vextractf32x4:
    case OP_vextractf32x8:
    case OP_vextracti32x4:
    case OP_vextracti32x8: return 4;
    case OP_vmovdqu64:
    case OP_vmovdqa64:
    case OP_vmovupd:
    case OP_vmovapd:
    case OP_vmovsd:
    case OP_vextractf64x2:
    case OP_vextractf64x4:
    case OP_vextracti64x2:
    case OP_vextracti64x4: return 8;
    default: return 0;
    }
}

static byte
packed_bytes(int op)
{
    switch (op) {
    case OP_vpcompressb:
    case OP_vpexpandb: return 1;
    case OP_vpcompressw:
    case OP_vpexpandw: return 2;
    case OP_vpcompressd:
    case OP_vpexpandd:
    case OP_vcompressps:
    case OP_vexpandps: return 4;
    case OP_vpcompressq:
    case OP_vpexpandq:
    case OP_vcompresspd:
    case OP_vexpandpd: return 8;
    default: return 0;
    }
}

static bool
is_nontemporal_store(int op)
{
    switch (op) {
    case OP_movntps:
    case OP_movntpd:
    case OP_movntdq:
    case OP_movnti:
    case OP_movntq:
    case OP_movntss:
    case OP_movntsd:
    case OP_vmovntps:
    case OP_vmovntpd:
    case OP_vmovntdq:
    case OP_maskmovq:
    case OP_maskmovdqu:
    case OP_vmaskmovdqu:
    case OP_movdiri:
    case OP_movdir64b:
    case OP_enqcmd:
    case OP_enqcmds: return true;
    default: return false;
    }
}

/* The first source register that can be the mask. */
static opnd_t
mask_source(instr_t *instr, bool vector, int skip)
{
    for (int i = 0; i < instr_num_srcs(instr); i++) {
        opnd_t src = instr_get_src(instr, i);
        if (!opnd_is_reg(src))
            continue;
        reg_id_t reg = opnd_get_reg(src);
        if ((vector ? reg_is_simd(reg) : is_mask_reg(reg)) && skip-- == 0)
            return src;
    }
    return opnd_create_null();
}

static bool
is_bit_test(int op)
{
    return op == OP_bt || op == OP_bts || op == OP_btr || op == OP_btc;
}

/* bt, bts, btr, btc of a bit that a register numbers, in memory. */
static bool
far_bit(instr_t *instr, int op, access_t *access)
{
    if (!is_bit_test(op))
        return false;
    bool in_memory = false;
    for (int i = 0; i < instr_num_srcs(instr); i++) {
        opnd_t src = instr_get_src(instr, i);
        in_memory = in_memory || opnd_is_memory_reference(src);
        if (opnd_is_reg(src))
            access->mask = opnd_create_reg(reg_to_pointer_sized(opnd_get_reg(src)));
    }
    return in_memory && !opnd_is_null(access->mask);
}

static bool
is_atomic(instr_t *instr, int op)
{
    return (instr->prefixes & PREFIX_LOCK) != 0 ||
           (op == OP_xchg && (instr_reads_memory(instr) || instr_writes_memory(instr)));
}

static byte
store_kind(instr_t *instr, int op)
{
    if (is_atomic(instr, op))
        return KIND_ATOMIC;
    return is_nontemporal_store(op) ? KIND_NT_STORE : KIND_STORE;
}

static bool
region_mark(instr_t *instr, access_t *access)
{
    opnd_t mem = instr_num_srcs(instr) > 0 ? instr_get_src(instr, 0) : opnd_create_null();
    if (!opnd_is_base_disp(mem) || opnd_get_base(mem) != DR_REG_RAX ||
        opnd_get_index(mem) != DR_REG_NULL)
        return false;
    uint disp = (uint)opnd_get_disp(mem);
    uint op = disp >> 12 & 0xf;
    if (disp >> 16 != REGION_MAGIC || (op != 1 && op != 2))
        return false;
    access->shape = SHAPE_REGION;
    access->kind = op == 1 ? KIND_REGION_BEGIN : KIND_REGION_END;
    access->region = (ushort)(disp & 0xfff);
    return true;
}

static void
masked(instr_t *instr, int op, access_t *access)
{
    byte lane = lane_bytes(op), packed = packed_bytes(op);
    if (lane == 0 && packed == 0)
        return;
    opnd_t mask = mask_source(instr, false, 0);
    if (opnd_is_null(mask) || opnd_get_reg(mask) == DR_REG_K0)
        return;
    access->shape = packed != 0 ? SHAPE_PACKED : SHAPE_BIT_MASK;
    access->element = packed != 0 ? packed : lane;
    access->mask = mask;
}

static enum xsave_form
form_of_xsave(int op)
{
    switch (op) {
    case OP_xsavec32:
    case OP_xsavec64:
    case OP_xsaves32:
    case OP_xsaves64: return XSAVE_COMPACTED;
    case OP_xsaveopt32:
    case OP_xsaveopt64: return XSAVE_IN_USE;
    case OP_xrstor32:
    case OP_xrstor64:
    case OP_xrstors32:
    case OP_xrstors64: return XSAVE_RESTORED;
    default: return XSAVE_ALL;
    }
}

/* Opcodes met before of which the operands say all: most of what programs consist of. */
static volatile bool ordinary[OP_LAST + 1];

access_t
access_of(instr_t *instr)
{
    int op = instr_get_opcode(instr);
    access_t access = { SHAPE_PLAIN, KIND_STORE, 0, XSAVE_ALL, 0, opnd_create_null() };
    if (ordinary[op]) {
        access.kind = is_atomic(instr, op) ? KIND_ATOMIC : KIND_STORE;
        return access;
    }
    switch (op) {
    case OP_lea:
    case OP_prefetcht0:
    case OP_prefetcht1:
    case OP_prefetcht2:
    case OP_prefetchnta:
    case OP_prefetch:
    case OP_prefetchw:
    /* Bounds: kernels that let programs use them are gone, and without them these do nothing. */
    case OP_bndmk:
    case OP_bndcl:
    case OP_bndcu:
    case OP_bndcn:
    case OP_bndmov:
    case OP_bndldx:
    case OP_bndstx: access.shape = SHAPE_NONE; return access;
    case OP_nop_modrm:
        if (!region_mark(instr, &access))
            access.shape = SHAPE_NONE;
        return access;
    case OP_clflush: access.shape = SHAPE_FLUSH; access.kind = KIND_CLFLUSH; return access;
    case OP_clflushopt: access.shape = SHAPE_FLUSH; access.kind = KIND_CLFLUSHOPT; return access;
    case OP_clwb: access.shape = SHAPE_FLUSH; access.kind = KIND_CLWB; return access;
    case OP_cldemote: access.shape = SHAPE_FLUSH; access.kind = KIND_CLDEMOTE; return access;
    case OP_sfence: access.shape = SHAPE_FENCE; access.kind = KIND_SFENCE; return access;
    case OP_lfence: access.shape = SHAPE_FENCE; access.kind = KIND_LFENCE; return access;
    case OP_mfence: access.shape = SHAPE_FENCE; access.kind = KIND_MFENCE; return access;
    case OP_rep_movs:
    case OP_rep_stos:
    case OP_rep_lods: access.shape = SHAPE_REP; return access;
    case OP_tileloadd:
    case OP_tileloaddt1:
    case OP_tilestored: access.shape = SHAPE_TILE; return access;
    case OP_rep_cmps:
    case OP_repne_cmps:
    case OP_rep_scas:
    case OP_repne_scas: access.shape = SHAPE_REP_UNTIL; return access;
    case OP_maskmovq:
    case OP_maskmovdqu:
    case OP_vmaskmovdqu:
        access.shape = SHAPE_TOP_MASK;
        access.kind = KIND_NT_STORE;
        access.element = 1;
        access.mask = mask_source(instr, true, 1);
        return access;
    case OP_vmaskmovps:
    case OP_vpmaskmovd:
    case OP_vmaskmovpd:
    case OP_vpmaskmovq:
        access.shape = SHAPE_TOP_MASK;
        access.element = op == OP_vmaskmovps || op == OP_vpmaskmovd ? 4 : 8;
        /* The engine gives these two's stores the data first. */
        access.mask = mask_source(
            instr, true, (op == OP_vpmaskmovd || op == OP_vpmaskmovq) && instr_writes_memory(instr));
        return access;
    default: break;
    }
    if (instr_is_xsave(instr) || instr_is_xrstor(instr)) {
        access.shape = SHAPE_XSAVE;
        access.form = (byte)form_of_xsave(op);
        return access;
    }
    if (instr_is_gather(instr) || instr_is_scatter(instr)) {
        access.shape = SHAPE_GATHER;
        access.mask = mask_source(instr, false, 0);
        if (opnd_is_null(access.mask))
            access.mask = mask_source(instr, true, 0);
        return access;
    }
    ordinary[op] = !is_nontemporal_store(op) && !is_bit_test(op) && lane_bytes(op) == 0 &&
                   packed_bytes(op) == 0;
    access.kind = store_kind(instr, op);
    if (far_bit(instr, op, &access))
        access.shape = SHAPE_BIT;
    masked(instr, op, &access);
    return access;
}
