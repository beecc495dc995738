#include "cases.h"

#include <string.h>

#include "access.h"
#include "alloc.h"
#include "charge.h"
#include "count.h"
#include "cut.h"
#include "drbbdup.h"
#include "drmgr.h"
#include "emit.h"
#include "flags.h"
#include "forms.h"
#include "options.h"
#include "thread.h"

/* Every block exists twice in the code cache, behind a jump on the thread's phase (the engine's
 * drbbdup extension). Flushing the code at each switch makes single blocks cheaper, but the
 * phase could then not differ between threads, as source regions ask for, and a region entered
 * often would have its code translated again each time. Blocks made after the end of recording have
 * both versions too: the engine may build any block again, to tell where a signal in it belongs, and
 * stored translations instead (session_records_block) do not cover the way out of a block. With a budget
 * blocks are like that from a certain moment on, and never in long gaps (forms.h). */
enum { COUNTED = 0, RECORDED = 1 };

/* What both cases of a block share. */
typedef struct {
    charge_t charge;
    access_t mark; /* shape SHAPE_NONE: the block is no region mark */
} block_t;

typedef struct {
    regs_t *regs;
    emit_t *emit; /* NULL: not recorded */
} case_t;

static access_t
mark_of(instr_t *instr)
{
    access_t none = { .shape = SHAPE_NONE };
    if (!options.regions_only || instr_get_opcode(instr) != OP_nop_modrm)
        return none;
    access_t access = access_of(instr);
    bool asked_for = access.shape == SHAPE_REGION &&
                     (options.region < 0 || options.region == access.region);
    return asked_for ? access : none;
}

/* A mark becomes a block of its own, so that the phase changes between blocks. */
static dr_emit_flags_t
on_split(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating)
{
    instr_t *first = instrlist_first_app(bb), *cut = NULL;
    for (instr_t *i = first; i != NULL && cut == NULL; i = instr_get_next_app(i)) {
        if (mark_of(i).shape == SHAPE_REGION)
            cut = i == first ? instr_get_next_app(i) : i;
        if (i == first && mark_of(i).shape == SHAPE_REGION)
            break;
    }
    cut_block(drcontext, bb, cut);
    return DR_EMIT_DEFAULT;
}

static uintptr_t
on_set_up(void *ctx, void *drcontext, void *tag, instrlist_t *bb, bool *enable_dups,
          bool *enable_dynamic_handling, void *user_data)
{
    *enable_dups = true;
    *enable_dynamic_handling = false;
    drbbdup_register_case_encoding(ctx, COUNTED);
    uint instrs = charge_of(bb, false).instrs;
    /* The last may stand elsewhere. */
    if (instrs > 0 && flags_unseen(instrlist_first_app(bb), instrs - 1))
        drbbdup_set_flags_unseen(ctx);
    return RECORDED;
}

static void
on_analyze_block(void *drcontext, void *tag, instrlist_t *bb, void *user_data, void **data)
{
    block_t *block = dr_thread_alloc(drcontext, sizeof(*block));
    instr_t *first = instrlist_first_app(bb);
    memset(block, 0, sizeof(*block));
    if (first != NULL)
        block->mark = mark_of(first);
    block->charge = charge_of(bb, false);
    forms_made_two_cases();
    *data = block;
}

static void
on_destroy_block(void *drcontext, void *user_data, void *data)
{
    dr_thread_free(drcontext, data, sizeof(block_t));
}

static void
on_analyze_case(void *drcontext, void *tag, instrlist_t *bb, uintptr_t encoding, void *user_data,
                void *block, void **data)
{
    case_t *c = dr_thread_alloc(drcontext, sizeof(*c));
    c->regs = regs_begin(drcontext, bb);
    c->emit = NULL;
    if (encoding == RECORDED)
        c->emit = emit_begin(drcontext, plan_make(drcontext, bb), c->regs);
    *data = c;
}

static void
on_destroy_case(void *drcontext, uintptr_t encoding, void *user_data, void *block, void *data)
{
    case_t *c = data;
    if (c->emit != NULL)
        emit_end(drcontext, c->emit);
    regs_end(drcontext, c->regs);
    dr_thread_free(drcontext, c, sizeof(*c));
}

/* Before the jump on the phase: the beginning of a region is itself recorded. */
static void
on_encode(void *drcontext, void *tag, instrlist_t *bb, instr_t *where, void *user_data, void *data)
{
    const block_t *block = data;
    if (block->mark.shape == SHAPE_REGION && block->mark.kind == KIND_REGION_BEGIN)
        dr_insert_clean_call(drcontext, bb, where, (void *)window_enter, false, 0);
}

static void
on_instrument(void *drcontext, void *tag, instrlist_t *bb, instr_t *instr, instr_t *where,
              uintptr_t encoding, void *user_data, void *shared, void *data)
{
    const block_t *block = shared;
    case_t *c = data;
    drmgr_disable_auto_predication(drcontext, bb);
    if (!is_program_instr(instr))
        return;
    bool first = c->regs->at == 0;
    at_t at;
    at_begin(&at, drcontext, bb, where);
    /* In both cases: what a window writes was often allocated before it. */
    alloc_entry(&at, instr, c->regs);
    if (first)
        charge_emit(&at, c->regs, &block->charge);
    if (c->emit != NULL && options.scope != SCOPE_COUNT)
        emit_before(&at, c->emit);
    else if (c->emit != NULL && first)
        count_emit(&at, c->regs, c->emit->plan->id);
    alloc_return(&at, instr, c->regs);
    bool last = regs_ahead(c->regs) == 0;
    regs_next(&at, c->regs);
    at_flush(&at);
    if (last && c->emit != NULL && options.scope != SCOPE_COUNT && where == instr)
        emit_behind(drcontext, bb, where, c->emit);
    if (first && block->mark.shape == SHAPE_REGION && block->mark.kind == KIND_REGION_END)
        dr_insert_clean_call(drcontext, bb, where, (void *)window_leave, false, 0);
}

static bool
is_wanted(void *drcontext, bool translating)
{
    return forms_of_block(drcontext, translating) == FORM_TWO_CASES;
}

void
cases_init(void)
{
    drmgr_priority_t before_dups = { .struct_size = sizeof(before_dups),
                                     .name = "prestore_region_marks",
                                     .before = DRMGR_PRIORITY_APP2APP_NAME_DRBBDUP,
                                     .priority = DRMGR_PRIORITY_APP2APP_DRBBDUP - 500 };
    drbbdup_options_t o = { .struct_size = sizeof(o) };
    o.set_up_bb_dups = on_set_up;
    o.insert_encode = options.regions_only ? on_encode : NULL;
    o.analyze_orig = on_analyze_block;
    o.destroy_orig_analysis = on_destroy_block;
    o.analyze_case = on_analyze_case;
    o.destroy_case_analysis = on_destroy_case;
    o.instrument_instr = on_instrument;
    o.runtime_case_opnd = thread_slot(dr_get_current_drcontext(), TLS_PHASE);
    o.non_default_case_limit = 1;
    o.max_case_encoding = RECORDED;
    o.never_enable_dynamic_handling = true;
    o.is_wanted = is_wanted;
    bool done = drbbdup_init(&o) == DRBBDUP_SUCCESS;
    if (options.regions_only)
        done = drmgr_register_bb_app2app_event(on_split, &before_dups) && done;
    if (!done) {
        dr_fprintf(STDERR, "prestore: internal error: blocks cannot have two cases\n");
        dr_abort();
    }
}

void
cases_exit(void)
{
    drbbdup_exit();
}
