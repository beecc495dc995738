#include "insn_length.h"

typedef struct {
    bool modrm;
    byte immediate; /* bytes */
    bool refused;
} form_t;

/* Opcodes behind 0f, also those of VEX map 1. */
static form_t
two_byte(byte op, bool vex)
{
    form_t form = { .modrm = true };
    if (op >= 0x80 && op <= 0x8f && !vex)
        form.refused = true; /* jcc */
    else if (op == 0x05 || op == 0x07 || op == 0x0b || op == 0x34 || op == 0x35)
        form.refused = true; /* system calls and returns, ud2 */
    else if ((op >= 0x70 && op <= 0x73) || op == 0xc2 || op == 0xc4 || op == 0xc5 || op == 0xc6)
        form.immediate = 1;
    else if (!vex && (op == 0x0f || op == 0xa4 || op == 0xac || op == 0xba))
        form.immediate = 1;
    else if (op == 0x77 ||
             (!vex && (op == 0x06 || op == 0x08 || op == 0x09 || op == 0x0e ||
                       (op >= 0x30 && op <= 0x37) || (op >= 0xa0 && op <= 0xa2) ||
                       (op >= 0xa8 && op <= 0xaa) || (op >= 0xc8 && op <= 0xcf))))
        form.modrm = false;
    return form;
}

/* Opcodes in the maps that VEX, EVEX and XOP prefixes name. */
static form_t
mapped(uint map, byte op, bool evex)
{
    form_t form = { .modrm = true };
    switch (map) {
    case 1: return two_byte(op, true);
    case 2: break;
    case 3: form.immediate = 1; break;
    case 5:
    case 6: form.refused = !evex && map == 6; break;
    case 7: form.immediate = 4; break;
    case 8: form.immediate = 1; break;
    case 9: break;
    case 10: form.immediate = 4; break;
    default: form.refused = true;
    }
    return form;
}

insn_length_t
insn_length(const byte *code, uint available)
{
    const insn_length_t none = { 0, 0 };
    insn_length_t found = none;
    byte padded[24] = { 0 };
    uint at = 0;
    form_t form;
    if (available > 15)
        available = 15;
    for (uint i = 0; i < available; i++)
        padded[i] = code[i];
    for (;; at++) {
        byte b = padded[at];
        if (b == 0x64 || b == 0x65 || at >= available)
            return none;
        if (b != 0x66 && b != 0x67 && b != 0xf0 && b != 0xf2 && b != 0xf3 && b != 0x2e &&
            b != 0x36 && b != 0x3e && b != 0x26)
            break;
    }
    if (padded[at] >= 0x40 && padded[at] <= 0x4f)
        at++;
    byte first = padded[at++];
    if (first == 0x0f) {
        byte op = padded[at++];
        if (op == 0x38 || op == 0x3a) {
            at++;
            form = (form_t){ .modrm = true, .immediate = op == 0x3a };
        } else {
            form = two_byte(op, false);
        }
    } else if (first == 0xc5) {
        form = mapped(1, padded[at + 1], false);
        at += 2;
    } else if (first == 0xc4 || (first == 0x8f && (padded[at] & 0x1f) >= 8)) {
        form = mapped(padded[at] & 0x1f, padded[at + 2], false);
        at += 3;
    } else if (first == 0x62) {
        form = mapped(padded[at] & 7, padded[at + 3], true);
        at += 4;
    } else {
        return none;
    }
    if (form.refused || at > available)
        return none;
    if (form.modrm) {
        byte modrm = padded[at++];
        uint mod = modrm >> 6, rm = modrm & 7;
        if (mod != 3) {
            bool wide = mod == 2;
            if (rm == 4) {
                bool no_base = (padded[at++] & 7) == 5;
                wide |= mod == 0 && no_base;
            } else if (mod == 0 && rm == 5) {
                found.rip_disp = at;
                wide = true;
            }
            at += wide ? 4 : mod == 1 ? 1 : 0;
        }
    }
    found.length = at + form.immediate;
    return found.length <= available ? found : none;
}
