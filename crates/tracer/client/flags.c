#include "flags.h"

#include "access.h"

/* Instructions that only compute: without memory operands they cannot fault. */
static bool
only_computes(instr_t *instr)
{
    if (instr_reads_memory(instr) || instr_writes_memory(instr))
        return false;
    switch (instr_get_opcode(instr)) {
    case OP_add:
    case OP_adc:
    case OP_sub:
    case OP_sbb:
    case OP_and:
    case OP_or:
    case OP_xor:
    case OP_cmp:
    case OP_test:
    case OP_inc:
    case OP_dec:
    case OP_neg:
    case OP_not:
    case OP_imul:
    case OP_mov_ld:
    case OP_mov_st:
    case OP_mov_imm:
    case OP_movzx:
    case OP_movsx:
    case OP_movsxd:
    case OP_lea:
    case OP_shl:
    case OP_shr:
    case OP_sar:
    case OP_cdq:
    case OP_cwde: return true;
    default: return false;
    }
}

uint
flags_set_by(instr_t *instr)
{
    switch (instr_get_opcode(instr)) {
    case OP_shl:
    case OP_shr:
    case OP_sar:
    case OP_imul: return 0;
    default: return instr_get_eflags(instr, DR_QUERY_DEFAULT) & EFLAGS_WRITE_ARITH;
    }
}

bool
flags_unseen(instr_t *where, uint instrs)
{
    uint left = EFLAGS_WRITE_ARITH;
    for (instr_t *i = where; i != NULL && instrs > 0; i = instr_get_next_app(i)) {
        if (!is_program_instr(i))
            continue;
        instrs--;
        if (!only_computes(i) ||
            (instr_get_eflags(i, DR_QUERY_INCLUDE_ALL) & EFLAGS_READ_ARITH) != 0)
            return false;
        left &= ~flags_set_by(i);
        if (left == 0)
            return true;
    }
    return false;
}
