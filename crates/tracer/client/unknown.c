#include "unknown.h"

#include <signal.h>
#include <string.h>

#include "session.h"
#include "drmgr.h"
#include "hashtable.h"
#include "thread.h"
#include "unknown_run.h"

/* The engine ends a block before an instruction that its decoder does not know and, when that is
 * to be executed, raises an illegal instruction signal. The processor may know better. */

typedef struct {
    app_pc pc;
    byte code[16];
    insn_length_t insn;
    stub_t *stub;
    uint64 executions;
    uint64 reported;
} unknown_t;

static hashtable_t found; /* pc -> unknown_t */
static void *lock;

static void
report(unknown_t *u)
{
    if (u->executions == u->reported)
        return;
    u->reported = u->executions;
    struct {
        uint32_t type, bytes;
        uint64_t pc;
        byte code[16];
        uint64_t executions;
    } frame = { .type = META_UNKNOWN_OPCODE, .bytes = 32 };
    frame.pc = (uint64)u->pc;
    memcpy(frame.code, u->code, sizeof(frame.code));
    frame.executions = u->executions;
    session_meta(&frame, sizeof(frame));
}

static void
report_entry(void *entry)
{
    report(entry);
}

static void
forget_count(void *entry)
{
    unknown_t *u = entry;
    u->executions = u->reported = 0;
}

static void
free_entry(void *entry)
{
    unknown_t *u = entry;
    if (u->stub != NULL)
        stub_free(u->stub);
    dr_global_free(u, sizeof(*u));
}

/* Fills `u` with the instruction at `pc`; false where the engine knows it or it must not be
 * executed. */
static bool
look_at(void *drcontext, unknown_t *u, app_pc pc)
{
    size_t available = 0;
    memset(u, 0, sizeof(*u));
    u->pc = pc;
    if (!dr_safe_read(pc, 15, u->code, &available)) {
        /* At the end of its page. */
        size_t left = 4096 - ((ptr_uint_t)pc & 4095);
        if (left >= 15 || !dr_safe_read(pc, left, u->code, &available))
            return false;
    }
    instr_t instr;
    instr_init(drcontext, &instr);
    bool known = decode_from_copy(drcontext, u->code, pc, &instr) != NULL && instr_valid(&instr);
    instr_free(drcontext, &instr);
    if (known)
        return false;
    u->insn = insn_length(u->code, (uint)available);
    return u->insn.length > 0;
}

bool
unknown_executed(void *drcontext, dr_siginfo_t *info)
{
    app_pc pc = info->mcontext->pc;
    unknown_t now;
    if (info->sig != SIGILL || !look_at(drcontext, &now, pc))
        return false;
    dr_mutex_lock(lock);
    unknown_t *u = hashtable_lookup(&found, pc);
    bool fresh = u == NULL || memcmp(u->code, now.code, now.insn.length) != 0;
    if (fresh) {
        u = dr_global_alloc(sizeof(*u));
        *u = now;
        u->stub = stub_make(pc, u->code, u->insn);
        /* Code that was changed: its old entry's count is reported now. */
        unknown_t *old = hashtable_lookup(&found, pc);
        if (old != NULL)
            report(old);
        hashtable_add_replace(&found, pc, u);
        if (old != NULL)
            free_entry(old);
    }
    bool executed = u->stub != NULL && stub_run(drcontext, u->stub, info->mcontext);
    if (executed) {
        u->executions++;
        if (u->executions == 1)
            report(u);
    }
    dr_mutex_unlock(lock);
    if (executed) {
        uint64 one = 1;
        info->mcontext->pc = pc + now.insn.length;
        thread_special(drcontext, REC_SKIP, 1, &one);
    }
    return executed;
}

/* Before the thread's last buffer, with which the host looks at the meta log for the last time. */
static void
on_thread_exit(void *drcontext)
{
    dr_mutex_lock(lock);
    hashtable_apply_to_all_payloads(&found, report_entry);
    dr_mutex_unlock(lock);
}

void
unknown_init(void)
{
    drmgr_priority_t first = { sizeof(first), "prestore.unknown", NULL, NULL, -1000 };
    drmgr_register_thread_exit_event_ex(on_thread_exit, &first);
    lock = dr_mutex_create();
    hashtable_init_ex(&found, 6, HASH_INTPTR, false, false, NULL, NULL, NULL);
}

void
unknown_exit(void)
{
    hashtable_apply_to_all_payloads(&found, free_entry);
    hashtable_delete(&found);
    dr_mutex_destroy(lock);
}

void
unknown_forked(void)
{
    hashtable_apply_to_all_payloads(&found, forget_count);
}
