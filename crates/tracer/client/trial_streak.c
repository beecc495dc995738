#include "trial_streak.h"

#define LINE 64

static bool
near(opnd_t first, opnd_t mem)
{
    return opnd_is_base_disp(first) && opnd_is_base_disp(mem) &&
        opnd_get_base(first) == opnd_get_base(mem) && opnd_get_index(first) == opnd_get_index(mem) &&
        opnd_get_scale(first) == opnd_get_scale(mem) &&
        opnd_get_disp(mem) - opnd_get_disp(first) < LINE &&
        opnd_get_disp(first) - opnd_get_disp(mem) < LINE;
}

bool
streaks_follow(streaks_t *streaks, opnd_t mem)
{
    for (uint i = 0; i < streaks->n; i++) {
        if (near(streaks->first[i], mem))
            return true;
    }
    if (streaks->n < STREAKS)
        streaks->first[streaks->n++] = mem;
    return false;
}

void
streaks_behind(streaks_t *streaks, instr_t *instr)
{
    for (uint i = streaks->n; i-- > 0;) {
        opnd_t first = streaks->first[i];
        for (int r = 0; r < opnd_num_regs_used(first); r++) {
            if (instr_writes_to_reg(instr, opnd_get_reg_used(first, r), DR_QUERY_INCLUDE_ALL)) {
                streaks->first[i] = streaks->first[--streaks->n];
                break;
            }
        }
    }
}
