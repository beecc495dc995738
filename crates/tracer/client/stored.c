#include "stored.h"

#include <string.h>

#include "access.h"
#include "bytes.h"
#include "cut.h"
#include "drbbdup.h"
#include "drmgr.h"
#include "hashtable.h"
#include "images.h"
#include "leave.h"
#include "thread.h"
#include "touches.h"

/* Larger stores are not copied by inlined code. */
#define INLINE_BYTES 64
#define CUT_WORDS 2

struct stored_t {
    app_pc pc;
    uint words; /* of the block's record */
    bool stamped;
    uint n;
    wire_ref_t refs[2];
};

/* Block id -> stored_t, for good: code in the cache refers to it. */
static hashtable_t all;
/* The program's first block was met. */
static bool begun;

static bool
is_store(const wire_ref_t *r)
{
    return r->kind == KIND_STORE || r->kind == KIND_NT_STORE || r->kind == KIND_ATOMIC;
}

/* What it writes goes to a device, or nowhere. */
static bool
stores_to_device(instr_t *instr)
{
    int op = instr_get_opcode(instr);
    return op == OP_enqcmd || op == OP_enqcmds;
}

bool
stored_inline(instr_t *instr, const wire_ref_t *r)
{
    return is_store(r) && r->mode == MODE_PLAIN && r->size > 0 && r->size <= INLINE_BYTES &&
        !instr_is_cti(instr) && !stores_to_device(instr);
}

bool
stored_if_equal(instr_t *instr)
{
    int op = instr_get_opcode(instr);
    return op == OP_cmpxchg || op == OP_cmpxchg8b || op == OP_cmpxchg16b;
}

static bool
by_call(instr_t *instr, const wire_ref_t *r)
{
    return is_store(r) && !stored_inline(instr, r) && !instr_is_cti(instr) &&
        !stores_to_device(instr);
}

const stored_t *
stored_of(const plan_t *plan, instr_t *last, const wire_ref_t *refs)
{
    stored_t new = { .pc = instr_get_app_pc(last), .words = plan->words,
                     .stamped = plan->stamped };
    for (uint i = 0; i < plan->n_refs; i++) {
        if (refs[i].instr + 1u == plan->instrs && by_call(last, &refs[i]) && new.n < 2)
            new.refs[new.n++] = refs[i];
    }
    if (new.n == 0 || plan->id == 0)
        return NULL;
    hashtable_lock(&all);
    stored_t *known = hashtable_lookup(&all, (void *)(uintptr_t)plan->id);
    if (known == NULL) {
        known = dr_global_alloc(sizeof(*known));
        *known = new;
        hashtable_add(&all, (void *)(uintptr_t)plan->id, known);
    }
    hashtable_unlock(&all);
    return known;
}

/* Copies first: writing may hand the buffer over that the values are in. */
static void
write_touches(void *drcontext, const stored_t *s, const uint64 *values, enum bytes_what what)
{
    touch_t touches[2 * MAX_TOUCHES];
    uint n = 0;
    for (uint i = 0; i < s->n; i++)
        n += touches_of(&s->refs[i], values, touches + n);
    for (uint i = 0; i < n; i++)
        bytes_now(drcontext, what, touches[i].address, touches[i].bytes);
}

static const uint64 *
values_of(thread_t *t, const stored_t *s)
{
    return (const uint64 *)*thread_slot_of(t, TLS_WRITE) - s->words;
}

void
stored_behind(void)
{
    void *drcontext = dr_get_current_drcontext();
    thread_t *t = thread_of(drcontext);
    const stored_t *s = (const stored_t *)*thread_slot_of(t, TLS_STORED);
    if (t->channel.ring != NULL)
        write_touches(drcontext, s, values_of(t, s), BYTES_STORED);
    if (s->stamped)
        thread_stamp(drcontext);
    leave_for_signal(drcontext);
}

bool
stored_partly(void *drcontext, const dr_mcontext_t *mc)
{
    thread_t *t = thread_of(drcontext);
    const stored_t *s = (const stored_t *)*thread_slot_of(t, TLS_STORED);
    if (s == NULL || s->pc != mc->pc || t->channel.ring == NULL)
        return false;
    return s->refs[0].mode == MODE_REP || s->refs[0].mode == MODE_INDEXED || s->refs[0].mode == MODE_TILE;
}

void
stored_until_fault(void *drcontext, const dr_mcontext_t *mc)
{
    thread_t *t = thread_of(drcontext);
    const stored_t *s = (const stored_t *)*thread_slot_of(t, TLS_STORED);
    const uint64 *record = values_of(t, s) - CUT_WORDS;
    wire_ref_t r = s->refs[0];
    if (r.mode != MODE_REP) {
        /* Some of the lanes or rows; of the others, what is there stays. */
        if (window_records(drcontext))
            write_touches(drcontext, s, record, BYTES_KERNEL);
        return;
    }
    /* Its own few values, with what is left taken from the count. */
    uint64 values[3] = { r.slot == NO_SLOT ? 0 : record[r.slot], record[r.aux] - mc->xcx,
                         r.extra >= REP_BY_FLAGS ? record[r.extra - REP_BY_FLAGS] : 0 };
    r.slot = r.slot == NO_SLOT ? NO_SLOT : 0;
    r.aux = 1;
    r.extra = r.extra >= REP_BY_FLAGS ? REP_BY_FLAGS + 2 : r.extra;
    stored_t part = { .n = 1, .refs = { r } };
    if (window_records(drcontext))
        write_touches(drcontext, &part, values, BYTES_KERNEL);
}

/* Must the block end behind `instr`? As access.h and plan.c tell its references. */
static bool
ends_block(instr_t *instr)
{
    access_t access = access_of(instr);
    bool writes = false, large = false;
    if (instr_is_cti(instr) || access.shape == SHAPE_NONE || access.shape == SHAPE_FENCE ||
        access.shape == SHAPE_REGION || access.shape == SHAPE_FLUSH || stores_to_device(instr) ||
        reads_its_target(instr))
        return false;
    for (int i = 0; i < instr_num_dsts(instr); i++) {
        opnd_t dst = instr_get_dst(instr, i);
        if (!opnd_is_memory_reference(dst))
            continue;
        uint size = access_bytes(instr, dst);
        writes = true;
        large = large || size == 0 || size > INLINE_BYTES;
    }
    return writes && (access.shape != SHAPE_PLAIN || large);
}

static dr_emit_flags_t
on_cut(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating)
{
    /* Not before: until now the engine ran on the program's stack. */
    if (!begun)
        images_process(drcontext);
    begun = true;
    for (instr_t *i = instrlist_first_app(bb); i != NULL; i = instr_get_next_app(i)) {
        if (is_program_instr(i) && ends_block(i)) {
            cut_block(drcontext, bb, instr_get_next_app(i));
            break;
        }
    }
    return DR_EMIT_DEFAULT;
}

static void
free_one(void *entry)
{
    dr_global_free(entry, sizeof(stored_t));
}

bool
stored_init(void)
{
    drmgr_priority_t before_dups = { .struct_size = sizeof(before_dups),
                                     .name = "prestore_stored",
                                     .priority = DRMGR_PRIORITY_APP2APP_DRBBDUP - 400 };
    hashtable_init_ex(&all, 8, HASH_INTPTR, false, false, free_one, NULL, NULL);
    return drmgr_register_bb_app2app_event(on_cut, &before_dups);
}

void
stored_exit(void)
{
    hashtable_delete(&all);
}
