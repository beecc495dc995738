/* The numbers of general registers, whatever part of them is named. */
#ifndef PRESTORE_GPR_H
#define PRESTORE_GPR_H

#include "dr_api.h"

#define GPRS 16

/* Which general register `reg` is or is a part of: its number from DR_REG_RAX on; -1: none. Asked
 * several times for each operand of each block, so not by the engine's table, which takes a call. */
static inline int
gpr_number(reg_id_t reg)
{
    uint at = (uint)reg - DR_REG_RAX;
    if (at < 3 * GPRS) /* rax, eax, ax and their like */
        return (int)(at % GPRS);
    if (reg >= DR_REG_AL && reg <= DR_REG_BH) /* al, cl, dl, bl; ah, ch, dh, bh */
        return (int)((uint)(reg - DR_REG_AL) % 4);
    if (reg >= DR_REG_R8L && reg <= DR_REG_R15L)
        return (int)(reg - DR_REG_R8L) + 8;
    if (reg >= DR_REG_SPL && reg <= DR_REG_DIL)
        return (int)(reg - DR_REG_SPL) + 4;
    return -1;
}

_Static_assert(DR_REG_EAX == DR_REG_RAX + GPRS && DR_REG_AX == DR_REG_EAX + GPRS &&
                   DR_REG_AL == DR_REG_AX + GPRS && DR_REG_AH == DR_REG_AL + 4 &&
                   DR_REG_RSP == DR_REG_RAX + 4 && DR_REG_RDI == DR_REG_RAX + 7,
               "order of the engine's registers");

#endif
