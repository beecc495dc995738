#include "alloc_syscalls.h"

#include <string.h>
#include <syscall.h>

#include "dr_api.h"
#include "drmgr.h"
#include "mapped_files.h"
#include "thread.h"
#include "wire.h"

/* What a thread asked for, until the answer is there. */
typedef struct {
    uint64 args[6];
} request_t;

static int tls_index;
static uint64 program_break;

static bool
is_ours(int number)
{
    return number == SYS_mmap || number == SYS_munmap || number == SYS_mremap ||
           number == SYS_brk || number == SYS_msync || number == SYS_shmat;
}

static bool
on_request(void *drcontext, int number)
{
    request_t *request = drmgr_get_tls_field(drcontext, tls_index);
    if (is_ours(number)) {
        for (int i = 0; i < 6; i++)
            request->args[i] = dr_syscall_get_param(drcontext, i);
    }
    return true;
}

static void
allocated(void *drcontext, uint64 address, uint64 bytes, uint64 pc, uint64 kind)
{
    uint64 payload[4] = { address, bytes, pc, kind };
    thread_special(drcontext, REC_ALLOC, 4, payload);
}

static void
freed(void *drcontext, uint64 address, uint64 pc)
{
    uint64 payload[2] = { address, pc };
    thread_special(drcontext, REC_FREE, 2, payload);
}

static void
on_answer(void *drcontext, int number)
{
    request_t *request = drmgr_get_tls_field(drcontext, tls_index);
    dr_mcontext_t mc = { .size = sizeof(mc), .flags = DR_MC_CONTROL };
    if (!is_ours(number))
        return;
    uint64 result = (uint64)dr_syscall_get_result(drcontext);
    bool failed = result >= (uint64)-4095;
    dr_get_mcontext(drcontext, &mc);
    /* Behind the system call, like a return address. */
    uint64 pc = (uint64)mc.pc;
    switch (number) {
    case SYS_mmap:
        if (!failed) {
            allocated(drcontext, result, request->args[1], pc, ALLOC_MMAP);
            mapped_files_mapped(drcontext, result, request->args);
        }
        break;
    case SYS_shmat:
        if (!failed)
            mapped_files_attached(result, request->args);
        break;
    case SYS_msync:
        if (!failed)
            mapped_files_synced(drcontext, request->args);
        break;
    case SYS_munmap:
        if (!failed)
            freed(drcontext, request->args[0], pc);
        break;
    case SYS_mremap:
        if (!failed) {
            if (request->args[1] != 0) /* of size 0: a second mapping, the old one stays */
                freed(drcontext, request->args[0], pc);
            allocated(drcontext, result, request->args[2], pc, ALLOC_MMAP);
            mapped_files_moved(result, request->args);
        }
        break;
    case SYS_brk: {
        uint64 before = program_break;
        program_break = result;
        if (before != 0 && result > before)
            allocated(drcontext, before, result - before, pc, ALLOC_BRK);
        break;
    }
    default: break;
    }
}

static void
on_thread_init(void *drcontext)
{
    request_t *request = dr_thread_alloc(drcontext, sizeof(*request));
    memset(request, 0, sizeof(*request));
    drmgr_set_tls_field(drcontext, tls_index, request);
}

static void
on_thread_exit(void *drcontext)
{
    dr_thread_free(drcontext, drmgr_get_tls_field(drcontext, tls_index), sizeof(request_t));
}

void
alloc_syscalls_init(void)
{
    tls_index = drmgr_register_tls_field();
    drmgr_register_thread_init_event(on_thread_init);
    drmgr_register_thread_exit_event(on_thread_exit);
    drmgr_register_pre_syscall_event(on_request);
    drmgr_register_post_syscall_event(on_answer);
}

void
alloc_syscalls_exit(void)
{
    drmgr_unregister_tls_field(tls_index);
}
