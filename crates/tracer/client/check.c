#include "check.h"

#include <string.h>

#include "access.h"
#include "check_state.h"
#include "dr_api.h"
#include "drmgr.h"
#include "flags.h"
#include "leave.h"
#include "regs.h"
#include "wire.h"

/* Executes our code of a block symbolically, forwards. It only jumps forwards, so that one pass will
 * do: where ways meet, what holds on one of them alone is given up. */

/* Marks what stands for a piece of code while the block is checked. */
#define EXPANDED ((void *)0x70726573746f7265)

typedef struct {
    void *drcontext;
    instrlist_t *bb;
    check_state_t now;
    bool reached;      /* can control come here? */
    reg_set_t followed; /* what the translation of a fault would take for ours */
    struct {
        instr_t *label;
        check_state_t state;
    } waiting[8]; /* jumps whose label is ahead */
    uint n_waiting;
    instr_t *way_back; /* label that rcx holds for shared code to come back to */
} check_t;

static opnd_t
target_of(instr_t *instr)
{
    return instr_is_cti(instr) && instr_num_srcs(instr) > 0 ? instr_get_src(instr, 0)
                                                            : opnd_create_null();
}

/* Instructions of the program from `instr` on to where control may leave. */
static uint
ahead(instr_t *instr)
{
    uint n = 0;
    for (; instr != NULL && !instr_is_cti(instr); instr = instr_get_next_app(instr))
        n += is_program_instr(instr) ? 1 : 0;
    return n;
}

static void
fail(check_t *c, instr_t *at, const char *what, reg_id_t reg)
{
    dr_fprintf(STDERR, "prestore: internal error: recording would change the program: %s (%s) at %p in\n",
               what, reg == DR_REG_NULL ? "-" : get_register_name(reg), instr_get_app_pc(at));
    for (instr_t *i = instrlist_first(c->bb); i != NULL; i = instr_get_next(i)) {
        char text[256];
        instr_disassemble_to_buffer(c->drcontext, i, text, sizeof(text));
        dr_fprintf(STDERR, "%s %s%s\n", i == at ? ">" : " ",
                   is_program_instr(i) ? "" : "    ", text);
    }
    dr_exit_process(3);
}

static void
jump(check_t *c, instr_t *label)
{
    for (uint i = 0; i < c->n_waiting; i++) {
        if (c->waiting[i].label == label) {
            check_meet(&c->waiting[i].state, &c->now);
            return;
        }
    }
    if (c->n_waiting == sizeof(c->waiting) / sizeof(c->waiting[0]))
        fail(c, label, "too many jumps for the checker", DR_REG_NULL);
    c->waiting[c->n_waiting].label = label;
    c->waiting[c->n_waiting++].state = c->now;
}

static void
arrive(check_t *c, instr_t *label)
{
    for (uint i = 0; i < c->n_waiting; i++) {
        if (c->waiting[i].label != label)
            continue;
        if (c->reached)
            check_meet(&c->now, &c->waiting[i].state);
        else
            c->now = c->waiting[i].state;
        c->reached = true;
        c->waiting[i] = c->waiting[--c->n_waiting];
        return;
    }
}

/* Everything that the program could see here, by itself or in a handler. */
static void
program_sees(check_t *c, instr_t *instr, reg_set_t needs)
{
    for (int i = 0; i < REGS; i++) {
        reg_id_t reg = (reg_id_t)(DR_REG_RAX + i);
        bool in_slot = (c->followed & reg_set(reg)) != 0;
        if (in_slot && (needs & reg_set(reg)) != 0)
            fail(c, instr, "a register that the program needs is not given back", reg);
        if (in_slot ? !check_saved(&c->now, regs_slot_offset(reg), reg) : c->now.reg[i] != i)
            fail(c, instr, "the program's value is lost", reg);
    }
    instr_t *next = is_program_instr(instr) ? instr : instr_get_next_app(instr);
    if (!c->now.flags && !flags_unseen(next, ahead(next)))
        fail(c, instr, "the flags are lost", DR_REG_NULL);
}

static void
program_instr(check_t *c, instr_t *instr)
{
    reg_set_t needs = 0, writes = 0;
    for (int i = 0; i < instr_num_srcs(instr); i++)
        needs |= reg_set_of_opnd(instr_get_src(instr, i));
    for (int i = 0; i < instr_num_dsts(instr); i++) {
        opnd_t dst = instr_get_dst(instr, i);
        needs |= reg_set_of_opnd(dst);
        writes |= opnd_is_reg(dst) ? reg_set(opnd_get_reg(dst)) : 0;
    }
    bool leaves = instr_is_cti(instr) || instr_is_syscall(instr) || instr_is_interrupt(instr);
    program_sees(c, instr, leaves ? (reg_set_t)~0u : needs);
    for (int i = 0; i < REGS; i++) {
        if ((writes >> i & 1) != 0)
            check_write(&c->now, (reg_id_t)(DR_REG_RAX + i));
    }
    c->now.flags |= flags_set_by(instr) == EFLAGS_WRITE_ARITH;
}

/* A store of ours that stands for the program's (trial_emit.h): nothing else of ours is non-temporal. */
static bool
stands_for_programs(instr_t *instr)
{
    return !is_program_instr(instr) && access_of(instr).kind == KIND_NT_STORE;
}

static opnd_t
target_in_memory(instr_t *instr)
{
    for (int i = 0; i < instr_num_dsts(instr); i++) {
        if (opnd_is_memory_reference(instr_get_dst(instr, i)))
            return instr_get_dst(instr, i);
    }
    return opnd_create_null();
}

/* It faults as the program's would, which follows. A fixed address is in a register of ours. */
static void
stand_in(check_t *c, instr_t *instr)
{
    opnd_t at = instr_get_dst(instr, 0), programs = target_in_memory(instr_get_next_app(instr));
    bool fixed = !opnd_is_base_disp(programs);
    if (!c->reached)
        return;
    if (!fixed && !opnd_same(at, programs))
        fail(c, instr, "a store of ours goes elsewhere than the program's", DR_REG_NULL);
    program_sees(c, instr, fixed ? 0 : reg_set_of_opnd(at));
}

/* Jumps by a register reach 127 bytes, which nobody else sees to, but for those within a piece: the
 * engine's release encodes what is too far as a jump elsewhere. */
static bool
reaches(check_t *c, instr_t *from, instr_t *label)
{
    int bytes = 0;
    for (instr_t *i = instr_get_next(from); i != NULL && i != label && bytes <= 127;
         i = instr_get_next(i))
        bytes += instr_get_note(i) == EXPANDED ? 0 : instr_length(c->drcontext, i);
    return bytes <= 127;
}

/* A jump of our code: within the block, or to shared code that comes back. */
static void
our_jump(check_t *c, instr_t *instr)
{
    opnd_t target = instr_get_target(instr);
    bool always = instr_is_ubr(instr) || instr_is_mbr(instr);
    if (opnd_is_instr(target)) {
        if ((instr_is_cti_short(instr) || instr_is_cti_loop(instr)) &&
            !reaches(c, instr, opnd_get_instr(target)))
            fail(c, instr, "a jump of ours does not reach", DR_REG_NULL);
        jump(c, opnd_get_instr(target));
    } else if (always && c->way_back != NULL) {
        /* It may not come back, but begin the block anew (leave.c). */
        program_sees(c, instr, 0);
        check_called(&c->now);
        jump(c, c->way_back);
    } else {
        fail(c, instr, "a jump that the checker does not know", DR_REG_NULL);
    }
    c->reached = !always;
}

/* The second of the moves behind a jump over them (leave.c). */
static bool
is_note(instr_t *instr)
{
    return instr_get_opcode(instr) == OP_mov_imm &&
           opnd_same(instr_get_dst(instr, 0), opnd_create_reg(DR_REG_EAX));
}

static void
our_instr(check_t *c, instr_t *instr)
{
    c->followed = regs_follow(c->followed, instr);
    if (!c->reached && is_note(instr)) {
        if (leave_noted(opnd_get_immed_int(instr_get_src(instr, 0))) != c->followed)
            fail(c, instr, "the registers noted for the way out are others", DR_REG_NULL);
    } else if (c->reached && instr_is_cti(instr)) {
        our_jump(c, instr);
    } else if (c->reached) {
        opnd_t src = instr_num_srcs(instr) > 0 ? instr_get_src(instr, 0) : opnd_create_null();
        if (opnd_is_instr(src))
            c->way_back = opnd_get_instr(src);
        const char *wrong = check_step(&c->now, instr);
        if (wrong != NULL)
            fail(c, instr, wrong, DR_REG_NULL);
    }
}

/* A label before `where`. */
static instr_t *
label_at(check_t *c, instr_t *where)
{
    instr_t *label = INSTR_CREATE_label(c->drcontext);
    instr_set_note(label, EXPANDED);
    instrlist_meta_preinsert(c->bb, where, label);
    return label;
}

/* Where `instr`, decoded from a piece, refers to something in it; NULL: it does not. */
static app_pc
refers_to(instr_t *instr)
{
    if (opnd_is_pc(target_of(instr)))
        return opnd_get_pc(target_of(instr));
    opnd_t src = instr_num_srcs(instr) > 0 ? instr_get_src(instr, 0) : opnd_create_null();
    return instr_get_opcode(instr) == OP_lea && opnd_is_rel_addr(src) ? opnd_get_addr(src) : NULL;
}

/* Inserts, before a piece of code, the instructions that it consists of. */
static void
expand(check_t *c, instr_t *piece)
{
    instr_t *at[PIECE_BYTES + 1] = { NULL };
    byte *begin = instr_get_raw_bits(piece), *pc = begin, *end = begin + instr_length(c->drcontext, piece);
    while (pc < end) {
        instr_t *instr = instr_create(c->drcontext);
        at[pc - begin] = instr;
        pc = decode(c->drcontext, pc, instr);
        if (pc == NULL || pc > end)
            fail(c, piece, "a piece of ours is not code", DR_REG_NULL);
        instr_set_note(instr, EXPANDED);
        instrlist_meta_preinsert(c->bb, piece, instr);
    }
    at[end - begin] = piece;
    for (byte *from = begin; from < end; from++) {
        instr_t *instr = at[from - begin];
        app_pc to = instr == NULL ? NULL : refers_to(instr);
        if (to == NULL)
            continue;
        if (to < begin || to > end || at[to - begin] == NULL)
            fail(c, instr, "code of ours refers to what is not in its piece", DR_REG_NULL);
        opnd_t label = opnd_create_instr(label_at(c, at[to - begin]));
        if (instr_is_cti(instr)) {
            instr_set_target(instr, label);
            continue;
        }
        instr_t *move = INSTR_CREATE_mov_imm(c->drcontext, instr_get_dst(instr, 0), label);
        instr_set_note(move, EXPANDED);
        instrlist_meta_preinsert(c->bb, instr, move);
        instrlist_remove(c->bb, instr);
        instr_destroy(c->drcontext, instr);
        at[from - begin] = move;
    }
}

static void
expand_all(check_t *c)
{
    for (instr_t *i = instrlist_first(c->bb); i != NULL; i = instr_get_next(i)) {
        if (is_piece(i))
            expand(c, i);
    }
}

static void
collapse_all(check_t *c)
{
    instr_t *next;
    for (instr_t *i = instrlist_first(c->bb); i != NULL; i = next) {
        next = instr_get_next(i);
        if (instr_get_note(i) != EXPANDED)
            continue;
        instrlist_remove(c->bb, i);
        instr_destroy(c->drcontext, i);
    }
}

/* Calls of C functions around region marks save everything; they are the engine's. */
static bool
calls_out(instrlist_t *bb)
{
    for (instr_t *i = instrlist_first(bb); i != NULL; i = instr_get_next(i)) {
        if (!is_program_instr(i) && instr_is_call(i))
            return true;
    }
    return false;
}

static dr_emit_flags_t
on_block(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating)
{
    check_t c = { .drcontext = drcontext, .bb = bb, .reached = true };
    if (calls_out(bb))
        return DR_EMIT_DEFAULT;
    check_begin(&c.now);
    expand_all(&c);
    for (instr_t *i = instrlist_first(bb); i != NULL; i = instr_get_next(i)) {
        if (is_piece(i))
            continue;
        if (instr_is_label(i))
            arrive(&c, i);
        else if (is_program_instr(i) && !opnd_is_instr(target_of(i)))
            program_instr(&c, i);
        else if (stands_for_programs(i))
            stand_in(&c, i);
        else
            our_instr(&c, i);
    }
    instr_t *last = instrlist_last(bb);
    if (c.reached && last != NULL)
        program_sees(&c, last, (reg_set_t)~0u);
    collapse_all(&c);
    return DR_EMIT_DEFAULT;
}

bool
check_init(void)
{
    return drmgr_register_bb_meta_instru_event(on_block, NULL);
}
