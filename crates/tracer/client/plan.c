#include "plan.h"

#include <string.h>

#include "access.h"
#include "block_ids.h"
#include "peek.h"
#include "builder.h"
#include "frame.h"
#include "options.h"
#include "stored.h"
#include "tiles.h"
#include "xsave.h"

/* A place of the frame: the stack pointer and a constant, as of calls, pushes, spills, the red zone,
 * and of the locked instruction on the top of the stack that compilers use as a fence. */
static bool
in_frame(opnd_t mem)
{
    return opnd_is_base_disp(mem) && opnd_get_base(mem) == DR_REG_RSP &&
           opnd_get_index(mem) == DR_REG_NULL && opnd_get_segment(mem) != DR_SEG_FS &&
           opnd_get_segment(mem) != DR_SEG_GS;
}

/* The same by way of rbp, where that is a frame pointer: set from the stack pointer in this block,
 * or untouched since a begin where it was one. An index is one into an array, which is data. */
static bool
in_frame_of_rbp(builder_t *b, opnd_t mem)
{
    if (!opnd_is_base_disp(mem) || opnd_get_base(mem) != DR_REG_RBP ||
        opnd_get_index(mem) != DR_REG_NULL || opnd_get_segment(mem) == DR_SEG_FS ||
        opnd_get_segment(mem) == DR_SEG_GS)
        return false;
    sym_t frame = symbolic_get(&b->symbolic, DR_REG_RBP);
    if (frame.version == symbolic_get(&b->symbolic, DR_REG_RSP).version)
        return true;
    if (frame.version != DR_REG_RBP - DR_REG_RAX || frame.delta != 0)
        return false;
    if (b->frame == FRAME_UNKNOWN) {
        app_pc pc = (app_pc)b->plan->head.start_pc;
        b->frame = frame_pointer_at(b->drcontext, pc) ? FRAME_YES : FRAME_NO;
    }
    return b->frame == FRAME_YES;
}

static uint
vector_words(reg_id_t reg)
{
    return (opnd_size_in_bytes(reg_get_size(reg)) + 7) / 8;
}

static void
capture_mask(builder_t *b, wire_ref_t *r, const access_t *access)
{
    reg_id_t reg = opnd_get_reg(access->mask);
    if (is_mask_reg(reg)) {
        r->aux = builder_capture(b, CAP_MASK, r->instr, access->mask, 1)->slot;
    } else {
        r->aux = builder_capture(b, CAP_VECTOR, r->instr, access->mask, vector_words(reg))->slot;
        r->extra = access->element;
    }
}

/* Which way a repeated string instruction goes: a flag that any earlier block may have set. */
static uint16_t
direction(builder_t *b, uint i)
{
    if (b->direction != DIRECTION_UNKNOWN)
        return b->direction == DIRECTION_DOWN ? REP_DOWN : REP_UP;
    if (b->flags_instr != i || b->flags_slot == NO_SLOT) {
        b->flags_slot = builder_capture(b, CAP_FLAGS, i, opnd_create_null(), 1)->slot;
        b->flags_instr = i;
    }
    return (uint16_t)(REP_BY_FLAGS + b->flags_slot);
}

static void
one_access(builder_t *b, uint i, instr_t *instr, const access_t *access, opnd_t mem, bool write)
{
    byte kind = (write && !reads_its_target(instr)) || access->kind == KIND_ATOMIC ? access->kind
                                                                                   : KIND_LOAD;
    app_pc pc = instr_get_app_pc(instr);
    uint size = access_bytes(instr, mem);
    if (access->shape == SHAPE_TILE && !tiles_exist())
        return;
    wire_ref_t *r = builder_ref(b, i, kind, MODE_PLAIN, pc, size);
    if (access->shape == SHAPE_TILE) {
        tiles_reference(b, r, i, instr, mem);
        return;
    }
    builder_address(b, r, mem, write ? moved_stack(instr, mem) : 0);
    /* An atomic there is one on a variable that others know. */
    bool frame = in_frame(mem) || (kind == KIND_STORE && in_frame_of_rbp(b, mem));
    r->lanes = access->shape == SHAPE_PLAIN && frame ? PLAIN_IN_FRAME : 0;
    switch (access->shape) {
    case SHAPE_REP:
    case SHAPE_REP_UNTIL:
        r->mode = access->shape == SHAPE_REP ? MODE_REP : MODE_REP_UNTIL;
        r->size = opnd_size_in_bytes(opnd_get_size(mem));
        r->extra = direction(b, i);
        r->aux = builder_capture(b, CAP_REG, i, opnd_create_reg(DR_REG_RCX), 1)->slot;
        if (r->mode == MODE_REP_UNTIL) {
            capture_t *left = builder_capture(b, CAP_REG, i, opnd_create_reg(DR_REG_RCX), 1);
            left->after = true;
            r->index = left->slot;
        }
        break;
    case SHAPE_BIT_MASK:
    case SHAPE_TOP_MASK:
    case SHAPE_PACKED:
        r->mode = access->shape == SHAPE_PACKED ? MODE_PACKED : MODE_MASKED;
        r->lanes = (uint8_t)(size / access->element);
        r->size = access->element;
        capture_mask(b, r, access);
        break;
    case SHAPE_GATHER: {
        reg_id_t index = opnd_get_index(mem);
        int op = instr_get_opcode(instr);
        bool wide_index = op == OP_vpgatherqd || op == OP_vpgatherqq || op == OP_vgatherqps ||
                          op == OP_vgatherqpd || op == OP_vpscatterqd || op == OP_vpscatterqq ||
                          op == OP_vscatterqps || op == OP_vscatterqpd;
        bool wide_data = op == OP_vpgatherdq || op == OP_vpgatherqq || op == OP_vgatherdpd ||
                         op == OP_vgatherqpd || op == OP_vpscatterdq || op == OP_vpscatterqq ||
                         op == OP_vscatterdpd || op == OP_vscatterqpd;
        opnd_t data = write ? instr_get_src(instr, instr_num_srcs(instr) - 1)
                            : instr_get_dst(instr, 0);
        for (int s = 0; write && s < instr_num_srcs(instr); s++) {
            opnd_t src = instr_get_src(instr, s);
            if (opnd_is_reg(src) && reg_is_simd(opnd_get_reg(src)))
                data = src;
        }
        uint data_bytes = opnd_size_in_bytes(reg_get_size(opnd_get_reg(data)));
        uint index_bytes = opnd_size_in_bytes(reg_get_size(index));
        access_t lanes = *access;
        lanes.element = wide_data ? 8 : 4;
        uint by_data = data_bytes / lanes.element, by_index = index_bytes / (wide_index ? 8 : 4);
        r->mode = MODE_INDEXED;
        r->size = lanes.element;
        r->lanes = (uint8_t)(by_data < by_index ? by_data : by_index);
        r->scale = (uint8_t)opnd_get_scale(mem);
        capture_mask(b, r, &lanes);
        opnd_t indices = opnd_create_reg(index);
        r->index = builder_capture(b, CAP_VECTOR, i, indices, vector_words(index))->slot;
        r->extra |= (uint16_t)((wide_index ? 8 : 4) << 8);
        break;
    }
    case SHAPE_BIT:
        r->mode = MODE_BIT;
        r->aux = builder_capture(b, CAP_REG, i, access->mask, 1)->slot;
        break;
    case SHAPE_XSAVE:
        r->mode = MODE_XSAVE;
        r->extra = access->form;
        r->aux = builder_capture(b, CAP_FEATURES, i, opnd_create_null(), 1)->slot;
        if (access->form != XSAVE_ALL) {
            capture_t *header = builder_capture(b, CAP_HEADER, i, opnd_create_null(), XSAVE_HEADER_WORDS);
            header->after = true;
            header->ref = (ushort)(r - b->refs);
            r->index = header->slot;
            b->reads_back = true;
        }
        break;
    default: break;
    }
}

/* A store's bytes are read back behind it: by inlined code, or by a call at the block's end
 * (stored.h). What a call pushes is known without. */
static void
add_values(builder_t *b, uint i, instr_t *instr, uint first_ref)
{
    if (!options.values)
        return;
    for (uint n = first_ref; n < b->plan->n_refs; n++) {
        wire_ref_t *r = &b->refs[n];
        if (!stored_inline(instr, r))
            continue;
        capture_t *c =
            builder_capture(b, CAP_VALUE, i, opnd_create_null(), (r->size + 7) / 8);
        c->after = true;
        c->ref = (ushort)n;
        r->value_slot = c->slot;
        if (stored_if_equal(instr)) {
            capture_t *flags = builder_capture(b, CAP_FLAGS, i, opnd_create_null(), 1);
            flags->after = true;
            r->aux = flags->slot;
        }
    }
}

/* Most operands are registers, of which not even the engine need be asked. */
static bool
in_memory(opnd_t opnd)
{
    return !opnd_is_reg(opnd) && opnd_is_memory_reference(opnd);
}

static void
one_instr(builder_t *b, uint i, instr_t *instr)
{
    access_t access = access_of(instr);
    app_pc pc = instr_get_app_pc(instr);
    b->plan->stamped |= access.kind == KIND_ATOMIC;
    uint first_ref = b->plan->n_refs;
    tiles_step(b, instr);
    int op = instr_get_opcode(instr);
    if (op == OP_std)
        b->direction = DIRECTION_DOWN;
    else if (op == OP_cld)
        b->direction = DIRECTION_UP;
    else if (op == OP_popf)
        b->direction = DIRECTION_UNKNOWN;
    switch (access.shape) {
    case SHAPE_NONE: break;
    case SHAPE_FENCE: builder_ref(b, i, access.kind, MODE_PLAIN, pc, 0); break;
    case SHAPE_REGION:
        builder_ref(b, i, access.kind, MODE_PLAIN, pc, 0)->disp = access.region;
        break;
    case SHAPE_FLUSH: {
        opnd_t mem = opnd_is_memory_reference(instr_get_src(instr, 0)) ? instr_get_src(instr, 0)
                                                                       : instr_get_dst(instr, 0);
        builder_address(b, builder_ref(b, i, access.kind, MODE_PLAIN, pc, 0), mem, 0);
        break;
    }
    default:
        for (int s = 0; access.kind != KIND_ATOMIC && s < instr_num_srcs(instr); s++) {
            opnd_t src = instr_get_src(instr, s);
            if (in_memory(src) && !instr_is_xsave(instr))
                one_access(b, i, instr, &access, src, false);
        }
        for (int d = 0; d < instr_num_dsts(instr); d++) {
            opnd_t dst = instr_get_dst(instr, d);
            if (in_memory(dst))
                one_access(b, i, instr, &access, dst, true);
        }
        add_values(b, i, instr, first_ref);
    }
    symbolic_step(&b->symbolic, instr);
}

static enum block_end
end_of(instr_t *last)
{
    if (instr_is_call(last))
        return END_CALL;
    if (instr_is_return(last))
        return END_RET;
    return instr_is_syscall(last) ? END_SYSCALL : END_JUMP;
}

/* Too large to be allocated for each block; one is enough unless threads build at the same time. */
static builder_t *spare;

static builder_t *
borrow(void)
{
    builder_t *b = __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQUIRE);
    return b != NULL ? b : dr_global_alloc(sizeof(*b));
}

static void
give_back(builder_t *b)
{
    b = __atomic_exchange_n(&spare, b, __ATOMIC_RELEASE);
    if (b != NULL)
        dr_global_free(b, sizeof(*b));
}

void
plan_exit(void)
{
    if (spare != NULL)
        dr_global_free(spare, sizeof(*spare));
    spare = NULL;
}

/* The instruction as it stands in the program: from its bytes the host knows which registers it reads and writes. */
static void
note_code(builder_t *b, uint i, instr_t *instr)
{
    uint length = program_length(b->drcontext, instr);
    byte *at = b->code + b->code_bytes;
    length = length < MAX_CODE ? length : MAX_CODE;
    b->lengths[i] = (byte)length;
    if (instr_raw_bits_valid(instr))
        memcpy(at, instr_get_raw_bits(instr), length);
    else if (peek(instr_get_app_pc(instr), at, length) != length)
        memset(at, 0, length);
    b->code_bytes += length;
}

plan_t *
plan_make(void *drcontext, instrlist_t *bb)
{
    builder_t *b = borrow();
    plan_t *plan = dr_thread_alloc(drcontext, sizeof(*plan));
    memset(plan, 0, sizeof(*plan));
    b->drcontext = drcontext;
    b->plan = plan;
    b->n_known = 0;
    b->code_bytes = 0;
    b->direction = DIRECTION_UNKNOWN;
    b->flags_slot = NO_SLOT;
    b->tiles_slot = NO_SLOT;
    b->reads_back = options.values;
    b->frame = FRAME_UNKNOWN;
    symbolic_init(&b->symbolic);
    instr_t *last = NULL;
    for (instr_t *instr = instrlist_first_app(bb); instr != NULL;
         instr = instr_get_next_app(instr)) {
        if (!is_program_instr(instr))
            continue;
        if (plan->instrs == 0)
            plan->head.start_pc = (uint64)instr_get_app_pc(instr);
        note_code(b, plan->instrs, instr);
        one_instr(b, plan->instrs, instr);
        plan->instrs++;
        last = instr;
    }
    if (last != NULL) {
        app_pc pc = instr_get_app_pc(last);
        plan->head.last_delta = (uint32_t)(pc - (app_pc)plan->head.start_pc);
        plan->head.next_pc = (uint64)(pc + program_length(drcontext, last));
        plan->head.end = (uint8_t)end_of(last);
        plan->head.has_code = 1;
        plan->head.instrs = plan->instrs;
        plan->head.words = plan->words;
        plan->head.refs = (uint16_t)plan->n_refs;
        code_t code = { b->lengths, b->code, b->code_bytes };
        plan->id = block_id(drcontext, &plan->head, b->refs, &code);
        if (options.values)
            plan->stored = stored_of(plan, last, b->refs);
    }
    if (b->reads_back) {
        plan->refs = dr_thread_alloc(drcontext, plan->n_refs * sizeof(wire_ref_t) + 1);
        memcpy(plan->refs, b->refs, plan->n_refs * sizeof(wire_ref_t));
    }
    plan->captures = dr_thread_alloc(drcontext, plan->n_captures * sizeof(capture_t) + 1);
    memcpy(plan->captures, b->captures, plan->n_captures * sizeof(capture_t));
    give_back(b);
    return plan;
}

void
plan_free(void *drcontext, plan_t *plan)
{
    if (plan->refs != NULL)
        dr_thread_free(drcontext, plan->refs, plan->n_refs * sizeof(wire_ref_t) + 1);
    dr_thread_free(drcontext, plan->captures, plan->n_captures * sizeof(capture_t) + 1);
    dr_thread_free(drcontext, plan, sizeof(*plan));
}
