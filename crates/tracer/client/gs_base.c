#include "gs_base.h"

#include <asm/ldt.h>
#include <asm/prctl.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unrecordable.h"

/* No program has addresses of so many bits, whatever the processor's page tables: the kernel refuses them as bases. */
#define BITS_OF_ADDRESSES 56

/* The engine finds its own storage by GS, and the program is told that its base is 0: who puts back what it was told, as
 * a save and restore of a thread's state does, changes nothing. */
bool
gs_base_before_syscall(void *drcontext, int number)
{
    if (number != SYS_arch_prctl || dr_syscall_get_param(drcontext, 0) != ARCH_SET_GS)
        return true;
    uint64 base = dr_syscall_get_param(drcontext, 1);
    bool refused = base >> BITS_OF_ADDRESSES != 0;
    if (base != 0 && !refused)
        unrecordable("sets the base of its GS segment (arch_prctl with ARCH_SET_GS), which the "
                     "recorder needs for itself");
    dr_syscall_set_result(drcontext, refused ? (reg_t)-EPERM : 0);
    return false;
}

/* In a descriptor of the processor's. */
static unsigned int
base_in(uint64 descriptor)
{
    return (unsigned int)(descriptor >> 16 & 0xffffff) | (unsigned int)(descriptor >> 56) << 24;
}

static unsigned int
base_of(unsigned int selector)
{
    unsigned int entry = selector >> 3;
    if ((selector & 4) == 0) {
        struct user_desc in_gdt = { .entry_number = entry };
        return syscall(SYS_get_thread_area, &in_gdt) == 0 ? in_gdt.base_addr : 0;
    }
    size_t size = (entry + 1) * sizeof(uint64);
    uint64 *table = dr_global_alloc(size);
    long got = syscall(SYS_modify_ldt, 0, table, size);
    unsigned int base = got == (long)size ? base_in(table[entry]) : 0;
    dr_global_free(table, size);
    return base;
}

/* Where the selector cannot be read, or loaded, it faults instead. */
static void
before_load(app_pc pc)
{
    void *drcontext = dr_get_current_drcontext();
    dr_mcontext_t mc = { .size = sizeof(mc), .flags = DR_MC_CONTROL | DR_MC_INTEGER };
    instr_t instr;
    unsigned short selector = 0;
    bool known = false;
    instr_init(drcontext, &instr);
    if (dr_get_mcontext(drcontext, &mc) && decode(drcontext, pc, &instr) != NULL) {
        opnd_t source = instr_get_src(&instr, 0);
        if (opnd_is_reg(source)) {
            selector = (unsigned short)reg_get_value(reg_to_pointer_sized(opnd_get_reg(source)), &mc);
            known = true;
        } else {
            known = dr_safe_read(opnd_compute_address(source, &mc), sizeof(selector), &selector, NULL);
        }
    }
    instr_free(drcontext, &instr);
    if (known && base_of(selector) != 0)
        unrecordable("sets the base of its GS segment (by a selector), which the recorder needs for itself");
}

void
gs_base_before_load(void *drcontext, instrlist_t *bb, instr_t *instr)
{
    if (instr_get_opcode(instr) != OP_mov_seg || !opnd_is_reg(instr_get_dst(instr, 0)) ||
        opnd_get_reg(instr_get_dst(instr, 0)) != DR_SEG_GS)
        return;
    dr_insert_clean_call(drcontext, bb, instr, (void *)before_load, false, 1,
                         OPND_CREATE_INTPTR(instr_get_app_pc(instr)));
}
