#include "check_state.h"

#include <string.h>

#include "channel.h"
#include "thread.h"

static int
index_of(reg_id_t reg)
{
    return reg_is_gpr(reg) ? reg_to_pointer_sized(reg) - DR_REG_RAX : -1;
}

void
check_begin(check_state_t *s)
{
    memset(s, 0, sizeof(*s));
    for (int i = 0; i < REGS; i++)
        s->reg[i] = (byte)i;
    s->flags = true;
}

static byte
saved(const check_state_t *s, int offset)
{
    for (uint i = 0; i < s->slots; i++) {
        if (s->slot[i].offset == offset)
            return s->slot[i].holds;
    }
    return CHECK_UNKNOWN;
}

bool
check_saved(const check_state_t *s, int offset, reg_id_t reg)
{
    return saved(s, offset) == index_of(reg);
}

static void
save(check_state_t *s, int offset, byte what)
{
    uint i = 0;
    while (i < s->slots && s->slot[i].offset != offset)
        i++;
    if (what >= REGS) {
        if (i < s->slots)
            s->slot[i] = s->slot[--s->slots];
        return;
    }
    if (i == CHECK_SLOTS)
        return;
    if (i == s->slots)
        s->slots++;
    s->slot[i].offset = offset;
    s->slot[i].holds = what;
}

void
check_write(check_state_t *s, reg_id_t reg)
{
    int written = index_of(reg);
    for (int i = 0; i < REGS; i++) {
        if (s->reg[i] == written)
            s->reg[i] = CHECK_UNKNOWN;
    }
    for (uint i = s->slots; i-- > 0;) {
        if (s->slot[i].holds == written)
            save(s, s->slot[i].offset, CHECK_UNKNOWN);
    }
    s->reg[written] = (byte)written;
}

void
check_called(check_state_t *s)
{
    for (int i = 0; i < REGS; i++) {
        if (s->reg[i] == CHECK_RECORD)
            s->reg[i] = CHECK_UNKNOWN;
    }
}

void
check_meet(check_state_t *s, const check_state_t *other)
{
    for (int i = 0; i < REGS; i++) {
        if (s->reg[i] != other->reg[i])
            s->reg[i] = CHECK_UNKNOWN;
    }
    for (uint i = s->slots; i-- > 0;) {
        if (saved(other, s->slot[i].offset) != s->slot[i].holds)
            save(s, s->slot[i].offset, CHECK_UNKNOWN);
    }
    s->flags = s->flags && other->flags;
}

/* Is `opnd` a fixed place in the thread's own storage? */
static bool
is_thread_storage(opnd_t opnd)
{
    return opnd_is_far_base_disp(opnd) && opnd_get_base(opnd) == DR_REG_NULL &&
           opnd_get_index(opnd) == DR_REG_NULL &&
           opnd_get_segment(opnd) ==
               opnd_get_segment(thread_slot(dr_get_current_drcontext(), TLS_WRITE));
}

static bool
is_slot(opnd_t opnd, tls_slot_t slot)
{
    return opnd_get_disp(opnd) ==
           opnd_get_disp(thread_slot(dr_get_current_drcontext(), slot));
}

static byte
loaded(const check_state_t *s, opnd_t src)
{
    if (opnd_get_size(src) != OPSZ_8)
        return CHECK_UNKNOWN;
    if (opnd_is_reg(src) && index_of(opnd_get_reg(src)) >= 0)
        return s->reg[index_of(opnd_get_reg(src))];
    if (!is_thread_storage(src))
        return CHECK_UNKNOWN;
    if (is_slot(src, TLS_WRITE))
        return CHECK_RECORD;
    if (is_slot(src, TLS_STACK))
        return CHECK_STACK;
    return is_slot(src, TLS_COUNTS) || is_slot(src, TLS_RESULTS) ? CHECK_COUNTS : saved(s, opnd_get_disp(src));
}

/* What an instruction leaves in the register it writes. */
static byte
result(const check_state_t *s, instr_t *instr)
{
    opnd_t src = instr_num_srcs(instr) > 0 ? instr_get_src(instr, 0) : opnd_create_null();
    int op = instr_get_opcode(instr);
    if (op == OP_mov_ld || op == OP_mov_st)
        return loaded(s, src);
    bool moves_record = op == OP_lea && opnd_is_near_base_disp(src) &&
                        opnd_get_index(src) == DR_REG_NULL &&
                        index_of(opnd_get_base(src)) >= 0 &&
                        s->reg[index_of(opnd_get_base(src))] == CHECK_RECORD;
    return moves_record ? CHECK_RECORD : CHECK_UNKNOWN;
}

/* May our code write there? */
static bool
is_ours(const check_state_t *s, instr_t *instr, opnd_t dst)
{
    if (is_thread_storage(dst))
        return true;
    if (!opnd_is_near_base_disp(dst) || opnd_get_index(dst) != DR_REG_NULL ||
        index_of(opnd_get_base(dst)) < 0)
        return false;
    byte base = s->reg[index_of(opnd_get_base(dst))];
    int at = opnd_get_disp(dst);
    if (base == CHECK_RECORD)
        return at < 0 && at >= -(int)(RED_ZONE_WORDS * sizeof(uint64));
    if (base == CHECK_STACK)
        return instr_get_opcode(instr) == OP_pushf;
    return base == CHECK_COUNTS;
}

const char *
check_step(check_state_t *s, instr_t *instr)
{
    byte value = result(s, instr);
    if ((instr_get_eflags(instr, DR_QUERY_INCLUDE_ALL) & EFLAGS_WRITE_ARITH) != 0)
        s->flags = false;
    for (int i = 0; i < instr_num_dsts(instr); i++) {
        opnd_t dst = instr_get_dst(instr, i);
        if (opnd_is_memory_reference(dst) && !is_ours(s, instr, dst))
            return "a store of ours goes where the program's data may be";
    }
    bool keeps_stack = instr_get_opcode(instr) == OP_pushf || instr_get_opcode(instr) == OP_pop;
    for (int i = 0; i < instr_num_dsts(instr); i++) {
        opnd_t dst = instr_get_dst(instr, i);
        if (is_thread_storage(dst)) {
            save(s, opnd_get_disp(dst),
                 opnd_get_size(dst) == OPSZ_8 && opnd_is_reg(instr_get_src(instr, 0)) &&
                         instr_get_opcode(instr) == OP_mov_st
                     ? value
                     : CHECK_UNKNOWN);
        } else if (opnd_is_reg(dst) && index_of(opnd_get_reg(dst)) >= 0) {
            reg_id_t reg = opnd_get_reg(dst);
            if (!(keeps_stack && reg == DR_REG_RSP && s->reg[index_of(reg)] == CHECK_STACK))
                s->reg[index_of(reg)] = reg_is_64bit(reg) ? value : CHECK_UNKNOWN;
        }
    }
    return NULL;
}
