#include "far_targets.h"

#include "unrecordable.h"

/* Where the selector is, behind what the instruction reads; -1 if it reads none. */
static int
selector_offset(int op, int size)
{
    switch (op) {
    case OP_jmp_far_ind:
    case OP_call_far_ind: return size - (int)sizeof(unsigned short);
    case OP_ret_far: return size / 2;
    case OP_iret: return size == 40 ? 8 : size == 6 ? 2 : 4;
    default: return -1;
    }
}

/* Does the processor execute what lies in it in another way than 64-bit code? Where there is no such segment of code, it faults. */
static bool
is_of_32_bit_code(unsigned short selector)
{
    unsigned int rights = 0;
    bool valid;
    __asm__("lar %2, %0\n\tsetz %1" : "+r"(rights), "=qm"(valid) : "r"((unsigned int)selector) : "cc");
    const unsigned int code = 3u << 11, long_mode = 1u << 21;
    return valid && (rights & code) == code && (rights & long_mode) == 0;
}

static void
before_transfer(app_pc pc)
{
    void *drcontext = dr_get_current_drcontext();
    dr_mcontext_t mc = { .size = sizeof(mc), .flags = DR_MC_CONTROL | DR_MC_INTEGER };
    instr_t instr;
    unsigned short selector = 0;
    instr_init(drcontext, &instr);
    if (dr_get_mcontext(drcontext, &mc) && decode(drcontext, pc, &instr) != NULL) {
        for (int i = 0; i < instr_num_srcs(&instr); i++) {
            opnd_t source = instr_get_src(&instr, (uint)i);
            if (!opnd_is_memory_reference(source))
                continue;
            int size = (int)opnd_size_in_bytes(opnd_get_size(source));
            int offset = selector_offset(instr_get_opcode(&instr), size);
            byte *read = (byte *)opnd_compute_address(source, &mc);
            if (offset >= 0 && !dr_safe_read(read + offset, sizeof(selector), &selector, NULL))
                selector = 0;
        }
    }
    instr_free(drcontext, &instr);
    if (is_of_32_bit_code(selector))
        unrecordable("goes on in 32-bit code (by a far jump, call or return), which the recorder does not know");
}

void
far_targets_before(void *drcontext, instrlist_t *bb, instr_t *instr)
{
    if (selector_offset(instr_get_opcode(instr), 0) == -1)
        return;
    dr_insert_clean_call(drcontext, bb, instr, (void *)before_transfer, false, 1,
                         OPND_CREATE_INTPTR(instr_get_app_pc(instr)));
}
