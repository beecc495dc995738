/* The tracer's client: describes the program's code once and writes what it does to memory into
 * buffers that the host reads. See ARCHITECTURE.md for the way of one store. */
#include <string.h>
#include <sys/syscall.h>

#include "alloc.h"
#include "cases.h"
#include "block_ids.h"
#include "channel.h"
#include "count.h"
#include "descriptors.h"
#include "dr_api.h"
#include "drmgr.h"
#include "drreg.h"
#include "drutil.h"
#include "emit.h"
#include "environment.h"
#include "leave.h"
#include "modules.h"
#include "options.h"
#include "plan.h"
#include "suspend.h"
#include "thread.h"
#include "unknown.h"

static dr_emit_flags_t
on_analyze(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating,
           void **user_data)
{
    dr_emit_flags_t flags;
    *user_data = NULL;
    if (session_records_block(translating, &flags))
        *user_data = emit_begin(drcontext, plan_make(drcontext, bb), bb);
    return flags;
}

static dr_emit_flags_t
on_insert(void *drcontext, void *tag, instrlist_t *bb, instr_t *instr, bool for_trace,
          bool translating, void *user_data)
{
    emit_t *e = user_data;
    drmgr_disable_auto_predication(drcontext, bb);
    if (e != NULL && instr_is_app(instr) && !instr_is_label(instr) &&
        instr_get_app_pc(instr) != NULL) {
        alloc_insert(drcontext, bb, instr, instr);
        if (options.scope != SCOPE_COUNT)
            emit_before(drcontext, bb, instr, e);
        else if (e->at++ == 0)
            count_emit(drcontext, bb, instr, e->plan->id);
    }
    if (e != NULL && drmgr_is_last_instr(drcontext, instr))
        emit_end(drcontext, e);
    return DR_EMIT_DEFAULT;
}

/* A fault ends a block early: the host must not count what was not executed. */
static dr_signal_action_t
on_signal(void *drcontext, dr_siginfo_t *info)
{
    if (leave_faulted(drcontext, info) || unknown_executed(drcontext, info))
        return DR_SIGNAL_REDIRECT;
    if (info->raw_mcontext_valid && info->raw_mcontext != NULL && !info->blocked) {
        uint64 pc = (uint64)info->mcontext->pc;
        thread_special(drcontext, REC_CUT, 1, &pc);
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
    if (number == SYS_clone || number == SYS_clone3 || number == SYS_fork ||
        number == SYS_vfork)
        thread_spawns(drcontext);
    thread_before_syscall(drcontext, number);
    return true;
}

static void
on_fork(void *drcontext)
{
    session_reopen();
    modules_process(block_ids_next());
    modules_forked();
    unknown_forked();
    session_begin();
    thread_forked(drcontext);
}

static void
on_process_exit(void)
{
    unknown_exit();
    alloc_exit();
    if (options_windowed())
        cases_exit();
    block_ids_exit();
    emit_exit();
    thread_exit();
    drutil_exit();
    drreg_exit();
    drmgr_exit();
}

DR_EXPORT void
dr_client_main(client_id_t id, int argc, const char *argv[])
{
    drreg_options_t reg_options = { .struct_size = sizeof(reg_options), .num_spill_slots = 8 };
    dr_set_client_name("Prestore", "https://docs.rs/prestore");
    drmgr_init();
    drutil_init();
    drreg_init(&reg_options);
    if (!options_parse(argc, argv) || !session_open())
        dr_exit_process(3);
    environment_clean();
    modules_process(0);
    session_begin();
    block_ids_init();
    dr_register_exit_event(on_process_exit);
    /* One callback: the engine calls several last one first, and files need the session. */
    dr_register_fork_init_event(on_fork);
    thread_init();
    emit_init();
    alloc_init();
    unknown_init();
    modules_init();
    descriptors_init();
    drmgr_register_signal_event(on_signal);
    dr_register_filter_syscall_event(on_filter_syscall);
    drmgr_register_pre_syscall_event(on_syscall);
    suspend_init();
    if (options_windowed())
        cases_init();
    else
        drmgr_register_bb_instrumentation_event(on_analyze, on_insert, NULL);
}
