#include "alloc.h"

#include <string.h>

#include "access.h"
#include "alloc_symbols.h"
#include "alloc_syscalls.h"
#include "alloc_watch.h"
#include "cut.h"
#include "drmgr.h"
#include "hashtable.h"
#include "options.h"

/* Calls are watched where they enter, by the function's address, and where they end: at the
 * return that finds the stack pointer as it was at the entry. Nothing of the program is changed,
 * as a replaced return address would be. Returns are watched in modules with allocators only. */

static hashtable_t calls; /* function -> what its arguments mean, plus CALL_KNOWN */
#define CALL_KNOWN (1u << 31)

typedef struct {
    app_pc start, end;
} range_t;

static range_t *ranges; /* modules whose returns are watched */
static uint n_ranges, max_ranges;
static void *ranges_lock;

/* Where functions may be, by the hash of their address: each instruction is asked for. */
static uint64 filter[64];

static uint
filter_bit(app_pc pc)
{
    return (uint)((uint64)pc * 0x9e3779b97f4a7c15ull >> 52);
}

static void
on_function(app_pc pc, uint call)
{
    uint bit = filter_bit(pc);
    __atomic_fetch_or(&filter[bit / 64], 1ull << bit % 64, __ATOMIC_RELAXED);
    hashtable_add_replace(&calls, pc, (void *)(ptr_uint_t)(call | CALL_KNOWN));
}

static void
on_load(void *drcontext, const module_data_t *module, bool loaded)
{
    if (alloc_symbols(module, on_function) == 0)
        return;
    dr_rwlock_write_lock(ranges_lock);
    if (n_ranges == max_ranges) {
        uint more = max_ranges == 0 ? 8 : 2 * max_ranges;
        range_t *all = dr_global_alloc(more * sizeof(*all));
        if (n_ranges > 0)
            memcpy(all, ranges, n_ranges * sizeof(*all));
        if (max_ranges > 0)
            dr_global_free(ranges, max_ranges * sizeof(*all));
        ranges = all;
        max_ranges = more;
    }
    ranges[n_ranges++] = (range_t){ module->start, module->end };
    dr_rwlock_write_unlock(ranges_lock);
}

static void
on_unload(void *drcontext, const module_data_t *module)
{
    bool watched = false;
    dr_rwlock_write_lock(ranges_lock);
    for (uint i = 0; i < n_ranges; i++) {
        if (ranges[i].start == module->start) {
            ranges[i] = ranges[--n_ranges];
            watched = true;
            break;
        }
    }
    dr_rwlock_write_unlock(ranges_lock);
    if (watched)
        hashtable_remove_range(&calls, module->start, module->end);
}

static bool
returns_watched(app_pc pc)
{
    bool found = false;
    dr_rwlock_read_lock(ranges_lock);
    for (uint i = 0; i < n_ranges && !found; i++)
        found = pc >= ranges[i].start && pc < ranges[i].end;
    dr_rwlock_read_unlock(ranges_lock);
    return found;
}

/* What the call of the function at `pc` means, plus CALL_KNOWN; 0: none is watched there. */
static uint
call_at(app_pc pc)
{
    uint bit = filter_bit(pc);
    if ((filter[bit / 64] >> bit % 64 & 1) == 0)
        return 0;
    return (uint)(ptr_uint_t)hashtable_lookup(&calls, pc);
}

/* Functions that control falls into: their entry begins a block. */
static dr_emit_flags_t
on_split(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating)
{
    instr_t *i = instrlist_first_app(bb);
    for (i = i == NULL ? NULL : instr_get_next_app(i); i != NULL; i = instr_get_next_app(i)) {
        if (is_program_instr(i) && call_at(instr_get_app_pc(i)) != 0) {
            cut_block(drcontext, bb, i);
            break;
        }
    }
    return DR_EMIT_DEFAULT;
}

static bool
watching(void)
{
    return options.allocations && options_record();
}

void
alloc_entry(at_t *at, instr_t *instr, regs_t *regs)
{
    if (!watching() || regs->at != 0)
        return;
    uint call = call_at(instr_get_app_pc(instr));
    if (call != 0)
        alloc_watch_entry(at, regs, call & ~CALL_KNOWN);
}

void
alloc_return(at_t *at, instr_t *instr, regs_t *regs)
{
    if (!watching() || !instr_is_return(instr) || !returns_watched(instr_get_app_pc(instr)))
        return;
    regs_give_back(at, regs, (reg_set_t)~0u);
    alloc_watch_return(at, regs);
}

void
alloc_init(void)
{
    if (!watching())
        return;
    hashtable_init_ex(&calls, 8, HASH_INTPTR, false, true, NULL, NULL, NULL);
    ranges_lock = dr_rwlock_create();
    if (!alloc_watch_init()) {
        dr_fprintf(STDERR, "prestore: no room to watch allocations: they are not recorded\n");
        options.allocations = false;
        return;
    }
    drmgr_register_bb_app2app_event(on_split, NULL);
    drmgr_register_module_load_event(on_load);
    drmgr_register_module_unload_event(on_unload);
    alloc_syscalls_init();
}

void
alloc_exit(void)
{
    if (!watching())
        return;
    alloc_watch_exit();
    alloc_syscalls_exit();
    if (max_ranges > 0)
        dr_global_free(ranges, max_ranges * sizeof(*ranges));
    dr_rwlock_destroy(ranges_lock);
    hashtable_delete(&calls);
}
