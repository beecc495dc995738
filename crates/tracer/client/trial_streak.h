/* Stores of a block that write one streak together, as an unrolled loop's do: one of them leaves a line
 * when all have. */
#ifndef PRESTORE_TRIAL_STREAK_H
#define PRESTORE_TRIAL_STREAK_H

#include "dr_api.h"

#define STREAKS 8

typedef struct {
    uint n;
    opnd_t first[STREAKS]; /* of each streak, what its first store writes */
} streaks_t;

/* Does a store before it in the block write within a line of `mem`, by the same registers? Else it is the
 * first of its streak, from here on. */
bool streaks_follow(streaks_t *streaks, opnd_t mem);

/* Behind `instr`: addresses by registers that it has written are others. */
void streaks_behind(streaks_t *streaks, instr_t *instr);

#endif
