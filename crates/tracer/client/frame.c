#include "frame.h"

#include "drmgr.h"
#include "hashtable.h"

/* Frames lie closer together than this. */
#define MOST (1 << 26)

/* Begins of blocks that had a frame pointer when they were first executed: a block must come out
 * the same when the engine makes it again to translate a fault. */
static hashtable_t found;
/* By thread: is the block that is being instrumented about to be executed? */
static int running;

static dr_emit_flags_t
on_block(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating)
{
    drmgr_set_tls_field(drcontext, running, (void *)(ptr_uint_t)(!for_trace && !translating));
    return DR_EMIT_DEFAULT;
}

bool
frame_init(void)
{
    hashtable_init(&found, 8, HASH_INTPTR, false);
    running = drmgr_register_tls_field();
    return running != -1 && drmgr_register_bb_app2app_event(on_block, NULL);
}

void
frame_exit(void)
{
    drmgr_unregister_bb_app2app_event(on_block);
    drmgr_unregister_tls_field(running);
    hashtable_delete(&found);
}

/* Is there a call before the instruction at `pc`? E8 and 4 bytes, or FF /2 with its operand. */
static bool
follows_a_call(app_pc pc)
{
    byte code[8];
    size_t n;
    if (!dr_safe_read(pc - sizeof(code), sizeof(code), code, &n) || n != sizeof(code))
        return false;
    if (code[3] == 0xe8)
        return true;
    for (int length = 2; length <= 7; length++) {
        const byte *at = code + sizeof(code) - length;
        if (at[0] == 0xff && (at[1] >> 3 & 7) == 2)
            return true;
    }
    return false;
}

/* A frame pointer is aligned, lies above the stack pointer, and what it points to is the caller's
 * rbp and the address to return to. A pointer into a buffer on the stack, in a function without
 * frame pointer, has no such neighbour. */
static bool
is_frame_pointer(const dr_mcontext_t *mc)
{
    if (mc->xbp % 16 != 0 || mc->xbp < mc->xsp || mc->xbp - mc->xsp > MOST)
        return false;
    app_pc words[2];
    size_t n;
    return dr_safe_read((void *)mc->xbp, sizeof(words), words, &n) && n == sizeof(words) &&
           follows_a_call(words[1]);
}

bool
frame_pointer_at(void *drcontext, app_pc pc)
{
    if (drmgr_get_tls_field(drcontext, running) == NULL)
        return hashtable_lookup(&found, pc) != NULL;
    dr_mcontext_t mc = { .size = sizeof(mc), .flags = DR_MC_CONTROL | DR_MC_INTEGER };
    bool is = dr_get_mcontext(drcontext, &mc) && is_frame_pointer(&mc);
    if (is)
        hashtable_add_replace(&found, pc, (void *)1);
    else
        hashtable_remove(&found, pc);
    return is;
}
