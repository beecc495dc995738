#include "count.h"

#include <sys/mman.h>

#include "flags.h"
#include "session.h"

/* Counters a thread has: sparse, so that only those of blocks that ran take memory. Blocks with
 * ids beyond share the last one, and the host says that their counts are lost. */
#define COUNTERS (4u << 20)

#define COUNT_BYTES (COUNT_HEADER_BYTES + (size_t)COUNTERS * sizeof(uint64))

void
count_thread_init(void *drcontext, thread_t *t)
{
    char path[MAXIMUM_PATH];
    wire_count_t *count = NULL;
    if (!session_stopped())
        count = session_map('n', dr_get_thread_id(drcontext), COUNT_BYTES, path, sizeof(path));
    if (count == NULL) {
        /* Not recorded, yet inlined code must have counters to write to. */
        void *map = mmap(NULL, COUNT_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        t->count = map == MAP_FAILED ? NULL : map;
        if (t->count == NULL) {
            dr_fprintf(STDERR, "prestore: no address space for a thread's counters\n");
            dr_abort();
        }
    } else {
        count->magic = COUNT_MAGIC;
        count->version = WIRE_VERSION;
        count->pid = (uint32_t)session_pid();
        count->tid = (uint32_t)dr_get_thread_id(drcontext);
        count->capacity = COUNTERS;
        count->stamp = session_stamp();
        t->count = count;
        session_publish(path);
    }
    *thread_slot_of(t, TLS_COUNTS) = (uint64)t->count + COUNT_HEADER_BYTES;
}

void
count_thread_exit(thread_t *t)
{
    t->count->ended = 1;
    munmap(t->count, COUNT_BYTES);
    t->count = NULL;
}

void
count_thread_drop(thread_t *t)
{
    if (t->count != NULL)
        munmap(t->count, COUNT_BYTES);
    t->count = NULL;
}

void
count_emit(at_t *at, regs_t *regs, uint id)
{
    int disp = (int)((id < COUNTERS ? id : COUNTERS - 1) * sizeof(uint64));
    reg_id_t base = regs_reserve(at, regs, 0);
    code_load_tls(at, base, thread_tls(TLS_COUNTS));
    if (flags_unseen(at->where, regs_ahead(regs))) {
        code_increment(at, base, disp);
    } else {
        reg_id_t value = regs_reserve(at, regs, 0);
        code_load(at, value, base, disp, 8);
        code_add(at, value, value, 1);
        code_store(at, base, disp, value, 8);
        regs_release(regs, value);
    }
    regs_release(regs, base);
}
