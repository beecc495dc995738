#include "tiles.h"

#include <string.h>

#include "access.h"
#include "gpr.h"
#include "xsave.h"

#define CONFIG_BYTES (TILE_CONFIG_WORDS * sizeof(uint64))
/* Places in the configuration. */
#define START_ROW 1
#define ROW_BYTES 16
#define ROWS 48
#define MAX_ROWS 16

bool
tiles_exist(void)
{
    return (xsave_layout()->components >> XSAVE_TILE_DATA & 1) != 0;
}

/* Which tile `instr` loads or stores: the middle of its ModRM byte. */
static byte
tile_of(builder_t *b, uint i)
{
    const byte *code = b->code + b->code_bytes - b->lengths[i];
    for (uint at = 0; at + 4 < b->lengths[i]; at++) {
        if (code[at] == 0xc4) /* behind prefixes, none of which is that */
            return code[at + 4] >> 3 & 7;
    }
    return 0;
}

/* The value with the stride; it is shared with addresses that the same value is the base of. */
static ushort
stride(builder_t *b, uint i, reg_id_t index)
{
    wire_ref_t as_base = { .instr = (uint16_t)i };
    if (reg_is_64bit(index)) {
        uint captures = b->plan->n_captures;
        builder_address(b, &as_base, opnd_create_base_disp(index, DR_REG_NULL, 0, 0, OPSZ_8), 0);
        if (b->plan->n_captures > captures || as_base.disp == 0)
            return as_base.slot;
    }
    opnd_t reg = opnd_create_reg(reg_to_pointer_sized(index));
    return builder_capture(b, CAP_REG, i, reg, 1)->slot;
}

void
tiles_reference(builder_t *b, wire_ref_t *r, uint i, instr_t *instr, opnd_t mem)
{
    reg_id_t index = opnd_get_index(mem);
    r->mode = MODE_TILE;
    r->lanes = tile_of(b, i);
    r->scale = (uint8_t)opnd_get_scale(mem);
    if (index != DR_REG_NULL)
        r->index = stride(b, i, index);
    builder_address(b, r,
                    opnd_create_far_base_disp_ex(opnd_get_segment(mem), opnd_get_base(mem),
                                                 DR_REG_NULL, 0, opnd_get_disp(mem), OPSZ_64,
                                                 false, false, opnd_is_disp_short_addr(mem)),
                    0);
    if (b->tiles_slot == NO_SLOT)
        b->tiles_slot =
            builder_capture(b, CAP_TILES, i, opnd_create_null(), TILE_CONFIG_WORDS)->slot;
    r->aux = b->tiles_slot;
}

void
tiles_step(builder_t *b, instr_t *instr)
{
    if (instr_get_opcode(instr) == OP_ldtilecfg || instr_is_xrstor(instr))
        b->tiles_slot = NO_SLOT;
}

void
tiles_capture(at_t *at, reg_id_t base, int disp)
{
    /* The engine decodes it, and has nothing that makes it. */
    uint number = (uint)gpr_number(base), length = 0;
    byte code[12];
    code[length++] = 0xc4;
    code[length++] = number < 8 ? 0xe2 : 0xc2;
    code[length++] = 0x79;
    code[length++] = 0x49;
    code[length++] = (byte)(0x80 | (number & 7));
    if ((number & 7) == 4)
        code[length++] = 0x24;
    memcpy(code + length, &disp, sizeof(disp));
    instr_t *sttilecfg = instr_create(at->drcontext);
    decode(at->drcontext, code, sttilecfg);
    instr_make_persistent(at->drcontext, sttilecfg);
    insert(at, sttilecfg);
}

uint
tiles_touched(const wire_ref_t *r, const uint64 *values, uint64 base, touch_t *out)
{
    byte config[CONFIG_BYTES];
    memcpy(config, values + r->aux, sizeof(config));
    uint64 stride = r->index == NO_SLOT ? 0 : values[r->index] * r->scale;
    uint bytes = config[ROW_BYTES + 2 * r->lanes] | config[ROW_BYTES + 2 * r->lanes + 1] << 8;
    uint rows = config[ROWS + r->lanes], n = 0;
    for (uint row = config[START_ROW]; row < rows && row < MAX_ROWS && bytes > 0; row++) {
        /* Rows without a gap between them are one stretch. */
        if (n > 0 && stride == bytes)
            out[n - 1].bytes += bytes;
        else
            out[n++] = (touch_t){ base + row * stride, bytes };
    }
    return n;
}
