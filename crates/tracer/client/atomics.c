#include "atomics.h"

#include "access.h"
#include "cut.h"
#include "drbbdup.h"
#include "drmgr.h"
#include "wire.h"

static dr_emit_flags_t
on_cut(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating)
{
    for (instr_t *i = instrlist_first_app(bb); i != NULL; i = instr_get_next_app(i)) {
        if (is_program_instr(i) && access_of(i).kind == KIND_ATOMIC) {
            cut_block(drcontext, bb, instr_get_next_app(i));
            break;
        }
    }
    return DR_EMIT_DEFAULT;
}

bool
atomics_init(void)
{
    drmgr_priority_t before_dups = { .struct_size = sizeof(before_dups),
                                     .name = "prestore_atomics",
                                     .priority = DRMGR_PRIORITY_APP2APP_DRBBDUP - 450 };
    return drmgr_register_bb_app2app_event(on_cut, &before_dups);
}
