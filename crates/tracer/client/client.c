/* The tracer's client: describes the program's code once and writes what it does to memory into
 * buffers that the host reads. See ARCHITECTURE.md for the way of one store. */
#include <string.h>
#include <sys/syscall.h>

#include "access.h"
#include "alloc.h"
#include "atomics.h"
#include "cases.h"
#include "block_ids.h"
#include "charge.h"
#include "session.h"
#include "check.h"
#include "count.h"
#include "descriptors.h"
#include "dr_api.h"
#include "drmgr.h"
#include "drutil.h"
#include "emit.h"
#include "environment.h"
#include "exec.h"
#include "float_pc.h"
#include "forms.h"
#include "frame.h"
#include "gs_base.h"
#include "interrupts.h"
#include "kernel_writes.h"
#include "modules.h"
#include "options.h"
#include "personality.h"
#include "pid_namespace.h"
#include "plan.h"
#include "proc_copies.h"
#include "proc_files.h"
#include "proc_maps.h"
#include "proc_program.h"
#include "refused_prctl.h"
#include "seccomp.h"
#include "segments.h"
#include "stops.h"
#include "stored.h"
#include "suspend.h"
#include "text_busy.h"
#include "thread.h"
#include "transactions.h"
#include "trap_flag.h"
#include "trial.h"
#include "unknown.h"
#include "verify.h"

/* What is kept of a block while it is instrumented. */
typedef struct {
    regs_t *regs;
    emit_t *emit; /* NULL: not recorded, but charged */
    charge_t charge;
} block_t;

static block_t *
block_begin(void *drcontext, instrlist_t *bb, bool recorded)
{
    block_t *block = dr_thread_alloc(drcontext, sizeof(*block));
    block->regs = regs_begin(drcontext, bb);
    block->emit =
        recorded ? emit_begin(drcontext, plan_make(drcontext, bb), block->regs) : NULL;
    block->charge = charge_of(bb, true);
    return block;
}

static dr_emit_flags_t
on_analyze(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating,
           void **user_data)
{
    dr_emit_flags_t flags = DR_EMIT_DEFAULT;
    *user_data = NULL;
    /* Those with two cases are not made here (cases.c). */
    form_t form = forms_of_block(drcontext, translating);
    if (form == FORM_TWO_CASES)
        return flags;
    if (form == FORM_RECORDED && !session_records_block(translating, &flags))
        return flags;
    *user_data = block_begin(drcontext, bb, form == FORM_RECORDED);
    return flags;
}

static void
instrument(at_t *at, block_t *block)
{
    regs_t *regs = block->regs;
    alloc_entry(at, at->where, regs);
    if (block->emit == NULL) {
        if (regs->at == 0)
            charge_emit(at, regs, &block->charge);
    } else if (options.scope != SCOPE_COUNT)
        emit_before(at, block->emit);
    else if (regs->at == 0)
        count_emit(at, regs, block->emit->plan->id);
    alloc_return(at, at->where, regs);
    bool last = regs_ahead(regs) == 0;
    regs_next(at, regs);
    at_flush(at);
    if (last && block->emit != NULL && options.scope != SCOPE_COUNT)
        emit_behind(at->drcontext, at->bb, at->where, block->emit);
}

static dr_emit_flags_t
on_insert(void *drcontext, void *tag, instrlist_t *bb, instr_t *instr, bool for_trace,
          bool translating, void *user_data)
{
    block_t *block = user_data;
    drmgr_disable_auto_predication(drcontext, bb);
    bool last = drmgr_is_last_instr(drcontext, instr);
    if (block != NULL && is_program_instr(instr)) {
        at_t at;
        at_begin(&at, drcontext, bb, instr);
        instrument(&at, block);
    }
    if (block != NULL && last) {
        if (block->emit != NULL)
            emit_end(drcontext, block->emit);
        regs_end(drcontext, block->regs);
        dr_thread_free(drcontext, block, sizeof(*block));
    }
    return DR_EMIT_DEFAULT;
}

/* A fault, or a store to executed code, ends a block early: the host must not count what was not
 * executed. */
static void
on_block_left(void *drcontext, app_pc at)
{
    uint64 pc = (uint64)at;
    thread_special(drcontext, REC_CUT, 1, &pc);
}

static dr_signal_action_t
on_signal(void *drcontext, dr_siginfo_t *info)
{
    if (unknown_executed(drcontext, info))
        return DR_SIGNAL_REDIRECT;
    if (options.scope == SCOPE_TRY && trial_flush_faulted(drcontext, info))
        return DR_SIGNAL_SUPPRESS;
    trap_flag_on_signal(info);
    if (info->raw_mcontext_valid && info->raw_mcontext != NULL && !info->blocked) {
        bool partly = options.values && stored_partly(drcontext, info->mcontext);
        on_block_left(drcontext, info->mcontext->pc);
        if (partly)
            stored_until_fault(drcontext, info->mcontext);
    }
    return DR_SIGNAL_DELIVER;
}

static bool
on_filter_syscall(void *drcontext, int number)
{
    return true;
}

static bool
on_syscall(void *drcontext, int number)
{
    if (!gs_base_before_syscall(drcontext, number))
        return false;
    refused_prctl_before_syscall(drcontext, number);
    interrupts_before_syscall(number);
    if (number == SYS_clone || number == SYS_clone3 || number == SYS_fork ||
        number == SYS_vfork)
        thread_spawns(drcontext, number);
    thread_before_syscall(drcontext, number);
    if (options.scope == SCOPE_TRY)
        trial_before_syscall(drcontext, number);
    return true;
}

static void
on_fork(void *drcontext)
{
    proc_copies_forked();
    seccomp_forked(drcontext);
    exec_forked();
    session_reopen(thread_of(drcontext)->shares_files);
    modules_process(block_ids_next());
    modules_forked();
    unknown_forked();
    session_begin();
    thread_forked(drcontext);
    if (options.scope == SCOPE_TRY)
        trial_forked();
}

#ifdef ENGINE_ASSERTS
/* Gives back all memory, where the engine looks for what is not. Else it goes with the process, and the kernel would have to
 * copy each page of a forked one that is written for that. */
static void
free_all(void)
{
    unknown_exit();
    alloc_exit();
    if (options_windowed()) {
        cases_exit();
        charge_exit();
    }
    if (options.values) {
        kernel_writes_exit();
        stored_exit();
    }
    frame_exit();
    block_ids_exit();
    emit_exit();
    plan_exit();
    thread_exit();
    drutil_exit();
    regs_exit();
    seccomp_exit();
    proc_copies_exit();
    if (options.stops != NULL)
        stops_exit();
    session_exit();
    drmgr_exit();
}
#endif

static void
on_process_exit(void)
{
    exec_exit();
    if (options.scope == SCOPE_TRY)
        trial_exit();
    session_close();
#ifdef ENGINE_ASSERTS
    free_all();
#endif
}

DR_EXPORT void
dr_client_main(client_id_t id, int argc, const char *argv[])
{
    dr_set_client_name("Prestore", "https://docs.rs/prestore");
    drmgr_init();
    drutil_init();
    if (!options_parse(argc, argv) || !session_open())
        dr_exit_process(3);
    environment_clean();
    exec_self(id);
    modules_process(0);
    session_begin();
    block_ids_init();
    dr_register_exit_event(on_process_exit);
    /* One callback: the engine calls several last one first, and files need the session. */
    dr_register_fork_init_event(on_fork);
    dr_register_block_left_event(on_block_left);
    thread_init();
    regs_init();
    emit_init();
    alloc_init();
    unknown_init();
    modules_init();
    descriptors_init();
    drmgr_register_signal_event(on_signal);
    dr_register_filter_syscall_event(on_filter_syscall);
    seccomp_before_allowed(on_syscall, NULL);
    suspend_init();
    seccomp_init();
    exec_init();
    pid_namespace_init();
    proc_maps_init(dr_get_client_path(id));
    proc_program_init();
    proc_files_init();
    personality_init();
    text_busy_init();
    segments_init();
    float_pc_init();
    if (!transactions_init() || !frame_init() || (options_record() && !atomics_init()))
        dr_abort();
    if (options.values) {
        if (!stored_init())
            dr_abort();
        kernel_writes_init();
    }
    forms_init();
    if (options.scope == SCOPE_TRY) {
        if (!trial_init())
            dr_exit_process(3);
    } else {
        if (options_windowed()) {
            charge_init();
            cases_init();
        }
        if (!options_windowed() || forms_change_later())
            drmgr_register_bb_instrumentation_event(on_analyze, on_insert, NULL);
    }
    if (options.check)
        check_init();
    if ((options.verify != NULL && !verify_init()) || (options.stops != NULL && !stops_init()))
        dr_exit_process(3);
}
