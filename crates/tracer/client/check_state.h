/* What the checker knows of the machine's state between two instructions. */
#ifndef PRESTORE_CHECK_STATE_H
#define PRESTORE_CHECK_STATE_H

#include "regs.h"

/* What a place holds: */
enum {
    CHECK_UNKNOWN = 16, /* anything of ours */
    CHECK_RECORD,       /* the end of the record being written, or where the next one begins */
    CHECK_STACK,        /* the stack of ours */
    CHECK_COUNTS,       /* the thread's counters, or results of a trial */
    /* 0 to 15: the program's present value of that register */
};

#define CHECK_SLOTS 32

typedef struct {
    byte reg[REGS];
    struct {
        int offset; /* in thread storage */
        byte holds;
    } slot[CHECK_SLOTS]; /* places that hold a program's value */
    uint slots;
    bool flags; /* the arithmetic flags are the program's */
} check_state_t;

/* At the beginning of a block. */
void check_begin(check_state_t *s);

/* Does thread storage hold the program's value of `reg` at `offset`? */
bool check_saved(const check_state_t *s, int offset, reg_id_t reg);

/* The program writes `reg`: copies of what it was are no longer its value. */
void check_write(check_state_t *s, reg_id_t reg);

/* Shared code has run: records may lie elsewhere now. */
void check_called(check_state_t *s);

/* Keeps of `s` what holds in `other` too. */
void check_meet(check_state_t *s, const check_state_t *other);

/* Executes an instruction of ours, no jump; returns what is wrong with it, or NULL. */
const char *check_step(check_state_t *s, instr_t *instr);

#endif
