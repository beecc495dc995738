#include "gencode.h"

#include "thread.h"

#define BYTES 4096

byte *
gencode_make(void (*callee)(void))
{
    void *drcontext = dr_get_current_drcontext();
    byte *code = dr_nonheap_alloc(BYTES, DR_MEMPROT_READ | DR_MEMPROT_WRITE | DR_MEMPROT_EXEC);
    instrlist_t *list = instrlist_create(drcontext);
    opnd_t way_back = thread_slot(drcontext, TLS_BACK);
    instr_t *back = INSTR_CREATE_jmp_ind(drcontext, way_back);
    instrlist_meta_append(
        list, INSTR_CREATE_mov_st(drcontext, way_back, opnd_create_reg(DR_REG_RCX)));
    instrlist_meta_append(list, back);
    dr_insert_clean_call(drcontext, list, back, (void *)callee, false, 0);
    instrlist_encode(drcontext, list, code, false);
    instrlist_clear_and_destroy(drcontext, list);
    dr_memory_protect(code, BYTES, DR_MEMPROT_READ | DR_MEMPROT_EXEC);
    return code;
}

void
gencode_free(byte *code)
{
    dr_nonheap_free(code, BYTES);
}
