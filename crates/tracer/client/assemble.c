#include "assemble.h"

#include <string.h>

#include "gpr.h"

/* Longer than any instruction written here. */
#define LONGEST 20

enum { REX = 0x40, REX_W = 0x48 };

void
at_begin(at_t *at, void *drcontext, instrlist_t *bb, instr_t *where)
{
    at->drcontext = drcontext;
    at->bb = bb;
    at->where = where;
    at->open = 0;
    at->n = 0;
}

/* To the engine it is an instruction without operands, of which it knows the bytes. */
void
at_flush(at_t *at)
{
    if (at->n == 0)
        return;
    instr_t *piece = INSTR_CREATE_nop(at->drcontext);
    instr_allocate_raw_bits(at->drcontext, piece, at->n);
    memcpy(instr_get_raw_bits(piece), at->bytes, at->n);
    instr_set_operands_valid(piece, true);
    instrlist_meta_preinsert(at->bb, at->where, piece);
    at->n = 0;
}

void
insert(at_t *at, instr_t *instr)
{
    at_flush(at);
    instrlist_meta_preinsert(at->bb, at->where, instr);
}

bool
is_piece(instr_t *instr)
{
    return instr_is_meta(instr) && instr->opcode == OP_nop && instr_raw_bits_valid(instr);
}

/* Whatever the program is, no code of ours that jumps is that long. */
static void
too_long(void)
{
    dr_fprintf(STDERR, "prestore: internal error: a jump of inlined code does not reach\n");
    dr_abort();
}

/* Jumps are within a piece. */
static void
room_for(at_t *at, uint bytes)
{
    if (at->n + bytes <= PIECE_BYTES)
        return;
    if (at->open > 0)
        too_long();
    at_flush(at);
}

/* Room for one more instruction. */
static void
make_room(at_t *at)
{
    room_for(at, LONGEST);
}

static void
put(at_t *at, byte b)
{
    at->bytes[at->n++] = b;
}

static void
put_int(at_t *at, int value)
{
    memcpy(at->bytes + at->n, &value, sizeof(value));
    at->n += sizeof(value);
}

/* The opcode with its prefix for the number of bytes and for the upper registers. */
static void
opcode(at_t *at, uint rex, byte op, int reg, int index, int base)
{
    rex |= (uint)(reg >> 3 & 1) << 2 | (uint)(index >> 3 & 1) << 1 | (uint)(base >> 3 & 1);
    if (rex != 0)
        put(at, (byte)(REX | rex));
    put(at, op);
}

static void
modrm(at_t *at, int mod, int reg, int rm)
{
    put(at, (byte)(mod << 6 | (reg & 7) << 3 | (rm & 7)));
}

static bool
is_small(int value)
{
    return value == (signed char)value;
}

/* Of an operand at a constant from a register; `reg` is the instruction's other field. */
static void
at_base(at_t *at, uint rex, byte op, int reg, reg_id_t base, int disp)
{
    int number = gpr_number(base), mod = is_small(disp) ? 1 : 2;
    make_room(at);
    opcode(at, rex, op, reg, 0, number);
    modrm(at, mod, reg, number);
    if ((number & 7) == 4)
        put(at, 0x24);
    if (mod == 1)
        put(at, (byte)disp);
    else
        put_int(at, disp);
}

/* Of an operand in thread storage. */
static void
at_tls(at_t *at, uint rex, byte op, int reg, tls_t tls)
{
    make_room(at);
    put(at, tls.segment == DR_SEG_GS ? 0x65 : 0x64);
    opcode(at, rex, op, reg, 0, 0);
    modrm(at, 0, reg, 4);
    put(at, 0x25);
    put_int(at, tls.offset);
}

void
code_load_tls(at_t *at, reg_id_t reg, tls_t from)
{
    at_tls(at, REX_W, 0x8b, gpr_number(reg), from);
}

void
code_store_tls(at_t *at, tls_t to, reg_id_t reg)
{
    at_tls(at, REX_W, 0x89, gpr_number(reg), to);
}

/* A move of the low `bytes` of a register; the opcode is that of a single byte. */
static void
move(at_t *at, byte op, reg_id_t reg, reg_id_t base, int disp, uint bytes)
{
    /* With a prefix of its kind, numbers 4 to 7 are low bytes, too. */
    uint rex = bytes == 8 ? REX_W : bytes == 1 ? REX : 0;
    /* Its prefix is not to be in another piece. */
    room_for(at, 1 + LONGEST);
    if (bytes == 2)
        put(at, 0x66);
    at_base(at, rex, bytes == 1 ? op : op + 1, gpr_number(reg), base, disp);
}

void
code_load(at_t *at, reg_id_t reg, reg_id_t base, int disp, uint bytes)
{
    move(at, 0x8a, reg, base, disp, bytes);
}

void
code_store(at_t *at, reg_id_t base, int disp, reg_id_t reg, uint bytes)
{
    move(at, 0x88, reg, base, disp, bytes);
}

void
code_store_constant(at_t *at, reg_id_t base, int disp, int value)
{
    at_base(at, 0, 0xc7, 0, base, disp);
    put_int(at, value);
}

void
code_immediate(at_t *at, reg_id_t reg, uint64 value)
{
    int number = gpr_number(reg);
    make_room(at);
    opcode(at, REX_W, (byte)(0xb8 | (number & 7)), 0, 0, number);
    put_int(at, (int)value);
    put_int(at, (int)(value >> 32));
}

void
code_constant(at_t *at, reg_id_t reg, int value)
{
    int number = gpr_number(reg);
    make_room(at);
    opcode(at, 0, (byte)(0xb8 | (number & 7)), 0, 0, number);
    put_int(at, value);
}

void
code_add(at_t *at, reg_id_t reg, reg_id_t base, int disp)
{
    at_base(at, REX_W, 0x8d, gpr_number(reg), base, disp);
}

void
code_sum(at_t *at, reg_id_t reg, reg_id_t base, reg_id_t index, uint scale)
{
    int to = gpr_number(reg), from = gpr_number(base), by = gpr_number(index);
    make_room(at);
    opcode(at, REX_W, 0x8d, to, by < 0 ? 0 : by, from < 0 ? 0 : from);
    /* Without a base there is a displacement of four bytes. */
    modrm(at, from < 0 ? 0 : 1, to, 4);
    put(at, (byte)((uint)__builtin_ctz(scale) << 6 | (uint)(by < 0 ? 4 : by & 7) << 3 |
                   (uint)(from < 0 ? 5 : from & 7)));
    if (from < 0)
        put_int(at, 0);
    else
        put(at, 0);
}

void
code_compare_tls(at_t *at, reg_id_t reg, tls_t with)
{
    at_tls(at, REX_W, 0x3b, gpr_number(reg), with);
}

void
code_subtract_tls(at_t *at, tls_t from, int value)
{
    at_tls(at, REX_W, 0x81, 5, from);
    put_int(at, value);
}

void
code_increment(at_t *at, reg_id_t base, int disp)
{
    at_base(at, REX_W, 0xff, 0, base, disp);
}

void
code_not(at_t *at, reg_id_t reg)
{
    int number = gpr_number(reg);
    make_room(at);
    opcode(at, REX_W, 0xf7, 0, 0, number);
    modrm(at, 3, 2, number);
}

void
code_swap_bytes(at_t *at, reg_id_t reg)
{
    int number = gpr_number(reg);
    make_room(at);
    opcode(at, REX_W, 0x0f, 0, 0, number);
    put(at, (byte)(0xc8 | (number & 7)));
}

void
code_read_time(at_t *at)
{
    make_room(at);
    put(at, 0x0f);
    put(at, 0x31);
}

void
code_load_fence(at_t *at)
{
    make_room(at);
    put(at, 0x0f);
    put(at, 0xae);
    put(at, 0xe8);
}

ahead_t
code_jump(at_t *at, jump_t jump)
{
    static const byte opcodes[] = {
        [JUMP_ALWAYS] = 0xeb,   [JUMP_BELOW] = 0x72,    [JUMP_NOT_SIGN] = 0x79,
        [JUMP_ECX_ZERO] = 0xe3, [JUMP_RCX_ZERO] = 0xe3,
    };
    make_room(at);
    if (jump == JUMP_ECX_ZERO)
        put(at, 0x67);
    put(at, opcodes[jump]);
    put(at, 0);
    at->open++;
    return (ahead_t){ at->n - 1, 1 };
}

ahead_t
code_jump_if_upper_zero(at_t *at)
{
    code_swap_bytes(at, DR_REG_RCX);
    return code_jump(at, JUMP_ECX_ZERO);
}

ahead_t
code_address(at_t *at, reg_id_t reg)
{
    make_room(at);
    opcode(at, REX_W, 0x8d, gpr_number(reg), 0, 0);
    modrm(at, 0, gpr_number(reg), 5);
    put_int(at, 0);
    at->open++;
    return (ahead_t){ at->n - 4, 4 };
}

void
code_land(at_t *at, ahead_t ahead)
{
    int distance = (int)(at->n - (ahead.at + ahead.bytes));
    if (ahead.bytes == 1 && distance > 127)
        too_long();
    memcpy(at->bytes + ahead.at, &distance, ahead.bytes);
    at->open--;
}

void
code_jump_by_tls(at_t *at, tls_t by)
{
    at_tls(at, 0, 0xff, 4, by);
}
