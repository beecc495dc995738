#include "verify.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "drmgr.h"
#include "options.h"

#define GPRS 16
/* Vector registers, and words of each. */
#define VECTORS 16
#define VECTOR_WORDS 4
/* Carry, parity, auxiliary, zero, sign, direction, overflow. */
#define FLAGS 0xcd5ull

/* As tests/verify/state.rs has it. */
typedef struct {
    uint64 pc;
    uint64 instrs; /* of the block that begins here */
    uint64 gpr[GPRS];
    uint64 flags;
    uint64 vectors, memory; /* hashes */
} state_t;

static file_t file;
static const uint64 *begin, *end;

static uint64
hash(uint64 h, const uint64 *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        h = (h ^ words[i]) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 32;
    }
    return h;
}

static void
on_begin(app_pc pc, uint instrs)
{
    dr_mcontext_t mc = { .size = sizeof(mc), .flags = DR_MC_ALL };
    state_t state = { .pc = (uint64)pc, .instrs = instrs };
    if (!dr_get_mcontext(dr_get_current_drcontext(), &mc))
        return;
    for (int i = 0; i < GPRS; i++)
        state.gpr[i] = reg_get_value((reg_id_t)(DR_REG_RAX + i), &mc);
    state.flags = mc.xflags & FLAGS;
    for (int i = 0; i < VECTORS; i++)
        state.vectors = hash(state.vectors, mc.simd[i].u64, VECTOR_WORDS);
    state.memory = hash(0, begin, (size_t)(end - begin));
    dr_write_file(file, &state, sizeof(state));
}

static dr_emit_flags_t
on_block(void *drcontext, void *tag, instrlist_t *bb, bool for_trace, bool translating)
{
    app_pc first = NULL, last = NULL;
    uint instrs = 0;
    for (instr_t *i = instrlist_first_app(bb); i != NULL; i = instr_get_next_app(i)) {
        if (!is_program_instr(i))
            continue;
        app_pc pc = instr_get_app_pc(i);
        first = first == NULL ? pc : first;
        /* The block may be here twice, but for its last (cases.c). */
        instrs += pc > last ? 1 : 0;
        last = pc > last ? pc : last;
    }
    if (first != NULL)
        dr_insert_clean_call(drcontext, bb, instrlist_first(bb), (void *)on_begin, false, 2,
                             OPND_CREATE_INTPTR(first), OPND_CREATE_INT32((int)instrs));
    return DR_EMIT_DEFAULT;
}

bool
verify_init(void)
{
    char path[MAXIMUM_PATH];
    const char *range = strrchr(options.verify, ',');
    while (range != NULL && range > options.verify && range[-1] != ',')
        range--;
    size_t len = range == NULL ? 0 : (size_t)(range - options.verify);
    if (len < 2 || len > sizeof(path)) {
        dr_fprintf(STDERR, "prestore: PRESTORE_VERIFY is FILE,BEGIN,END, not '%s'\n", options.verify);
        return false;
    }
    memcpy(path, options.verify, len);
    path[len - 1] = '\0';
    char *comma = NULL;
    begin = (const uint64 *)strtoull(range, &comma, 16);
    end = (const uint64 *)strtoull(comma + 1, NULL, 16);
    file = dr_open_file(path, DR_FILE_WRITE_OVERWRITE);
    if (file < 0) {
        dr_fprintf(STDERR, "prestore: PRESTORE_VERIFY: '%s' cannot be written\n", path);
        return false;
    }
    /* Behind the checker, which knows the code of ours that is there before. */
    drmgr_priority_t last = { .struct_size = sizeof(last),
                              .name = "prestore_verify",
                              .priority = 2000 };
    return drmgr_register_bb_meta_instru_event(on_block, &last);
}
