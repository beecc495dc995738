#include "alloc_watch.h"

#include <string.h>

#include "alloc_symbols.h"
#include "drmgr.h"
#include "thread.h"
#include "wire.h"

/* A thread's raw TLS, by word. The outermost call in progress is followed: calls inside it (new
 * calls malloc) are the allocator's own business. */
#define MINUS_SP 0 /* minus the stack pointer at the entry; 0: no call in progress */
#define CALL 1     /* what its arguments mean */
#define ARG0 2
#define SIZE 3
#define CALLER 4 /* where it returns to */
/* Passed from inlined code: */
#define NEW_CALL 5
#define NEW_ARG0 6
#define NEW_ARG1 7
#define NEW_ARG2 8
#define RESULT 9
#define SAVED_RCX 10
#define SAVED_RDX 11
/* Saved by the shared code: */
#define SAVED_RAX 12
#define SAVED_RBX 13
#define SAVED_FLAGS 14
#define TLS_WORDS 15

static reg_id_t tls_register;
static uint tls_offset;

/* Offsets in gs of the record's slots, and the ways to make room, for the shared code. */
__attribute__((used)) static uint64 alloc_write_at, alloc_limit_at;
__attribute__((used)) static byte *alloc_entry_full, *alloc_return_full;
void alloc_on_entry(void);
void alloc_on_return(void);

#define FULL_CODE_BYTES 4096
static byte *full_code;

/* Frames within so many bytes of an unfinished call's may be its own. */
#define NESTED_BYTES 65536

/* The shared code. rcx: way back; rdx: offset of the words in gs; the program's rcx and rdx are
 * saved. All other registers, and the flags, are the program's and stay so. */
#define TEXT(x) #x
#define VALUE(x) TEXT(x)
#define AT(word) "%gs:8*" VALUE(word) "(%rdx)"
#define SAVE                                                                                     \
    "mov %rax, " AT(SAVED_RAX) "\n"                                                              \
    "mov %rbx, " AT(SAVED_RBX) "\n"                                                              \
    "lahf\n seto %al\n"                                                                          \
    "mov %rax, " AT(SAVED_FLAGS) "\n"
#define RESTORE                                                                                  \
    "mov " AT(SAVED_FLAGS) ", %rax\n"                                                            \
    "add $0x7f, %al\n sahf\n"                                                                    \
    "mov " AT(SAVED_RBX) ", %rbx\n"                                                              \
    "mov " AT(SAVED_RAX) ", %rax\n"
/* rbx := where the next record goes; or off to `full`, which makes room and begins anew. */
#define ROOM(full)                                                                               \
    "mov alloc_limit_at(%rip), %rbx\n"                                                           \
    "mov %gs:(%rbx), %rax\n"                                                                     \
    "mov alloc_write_at(%rip), %rbx\n"                                                           \
    "mov %gs:(%rbx), %rbx\n"                                                                     \
    "cmp %rax, %rbx\n"                                                                           \
    "jb 1f\n" RESTORE "jmp *" full "(%rip)\n"                                                    \
    "1:\n"
/* Appends FREE of ARG0 at rbx; clobbers rax. */
#define WRITE_FREE                                                                               \
    "mov " AT(ARG0) ", %rax\n"                                                                   \
    "mov %rax, 8(%rbx)\n"                                                                        \
    "mov " AT(CALLER) ", %rax\n"                                                                 \
    "mov %rax, 16(%rbx)\n"                                                                       \
    "movabs $0x200000003, %rax\n"                                                                \
    "mov %rax, (%rbx)\n"                                                                         \
    "add $24, %rbx\n"
/* TLS_WRITE := rbx; clobbers rax. */
#define CLAIM                                                                                    \
    "mov alloc_write_at(%rip), %rax\n"                                                           \
    "mov %rbx, %gs:(%rax)\n"
_Static_assert(REC_HEADER(REC_FREE, 2) == 0x200000003, "header of FREE");
_Static_assert(REC_HEADER(REC_ALLOC, 4) == 0x400000002, "header of ALLOC");

__asm__(".text\n"
        ".hidden alloc_on_entry\n .globl alloc_on_entry\n"
        "alloc_on_entry:\n" SAVE ROOM("alloc_entry_full")
        /* Inside the call in progress? Unless its frame is gone (an exception, a longjmp). */
        "mov " AT(MINUS_SP) ", %rax\n"
        "test %rax, %rax\n jz 2f\n"
        "add %rsp, %rax\n" /* minus the bytes from its frame down to this one */
        "jg 2f\n"
        "cmp $-" VALUE(NESTED_BYTES) ", %rax\n jl 2f\n"
        "neg %rax\n"
        "mov (%rsp,%rax), %rax\n"
        "cmp %rax, " AT(CALLER) "\n je 7f\n"
        "2:\n"
        "mov %rsp, %rax\n neg %rax\n mov %rax, " AT(MINUS_SP) "\n"
        "mov (%rsp), %rax\n mov %rax, " AT(CALLER) "\n"
        "mov " AT(NEW_ARG0) ", %rax\n mov %rax, " AT(ARG0) "\n"
        "mov " AT(NEW_CALL) ", %rax\n mov %rax, " AT(CALL) "\n"
        "test $" VALUE(CALL_FREE) ", %eax\n jz 3f\n"
        /* Given back now: once it has returned, others may already have it. */
        "cmpq $0, " AT(ARG0) "\n je 7f\n"
        WRITE_FREE CLAIM
        "jmp 7f\n"
        "3:\n"
        "test $" VALUE(CALL_SIZE_ARG1) ", %eax\n jnz 4f\n"
        "test $" VALUE(CALL_SIZE_ARG2) ", %eax\n jnz 5f\n"
        "mov " AT(NEW_ARG0) ", %rbx\n"
        "test $" VALUE(CALL_TIMES_NEXT) ", %eax\n jz 6f\n"
        "imul " AT(NEW_ARG1) ", %rbx\n jmp 6f\n"
        "4:\n"
        "mov " AT(NEW_ARG1) ", %rbx\n"
        "test $" VALUE(CALL_TIMES_NEXT) ", %eax\n jz 6f\n"
        "imul " AT(NEW_ARG2) ", %rbx\n jmp 6f\n"
        "5:\n"
        "mov " AT(NEW_ARG2) ", %rbx\n"
        "6:\n"
        "mov %rbx, " AT(SIZE) "\n"
        "7:\n" RESTORE "jmp *%rcx\n"

        ".hidden alloc_on_return\n .globl alloc_on_return\n"
        "alloc_on_return:\n" SAVE ROOM("alloc_return_full")
        "movq $0, " AT(MINUS_SP) "\n"
        /* Another call's return, where an exception or a longjmp has left the one at the entry. */
        "mov (%rsp), %rax\n"
        "cmp %rax, " AT(CALLER) "\n jne 7f\n"
        "mov " AT(CALL) ", %rax\n"
        "test $" VALUE(CALL_FREE) ", %eax\n jnz 7f\n"
        "test $" VALUE(CALL_RETURNS_OLD) ", %eax\n jz 2f\n"
        "cmpq $0, " AT(ARG0) "\n je 2f\n"
        "cmpq $0, " AT(RESULT) "\n jne 1f\n"
        "cmpq $0, " AT(SIZE) "\n jne 7f\n" /* failed: the old one is as it was */
        "1:\n"
        WRITE_FREE
        "mov " AT(CALL) ", %rax\n"
        "2:\n"
        "test $" VALUE(CALL_RESULT_IN_ARG0) ", %eax\n jz 3f\n"
        "cmpl $0, " AT(RESULT) "\n jne 7f\n"
        "mov " AT(ARG0) ", %rax\n mov (%rax), %rax\n mov %rax, " AT(RESULT) "\n"
        "3:\n"
        "mov " AT(RESULT) ", %rax\n"
        "test %rax, %rax\n jz 4f\n"
        "mov %rax, 8(%rbx)\n"
        "mov " AT(SIZE) ", %rax\n mov %rax, 16(%rbx)\n"
        "mov " AT(CALLER) ", %rax\n mov %rax, 24(%rbx)\n"
        "movzbl " AT(CALL) ", %eax\n mov %rax, 32(%rbx)\n"
        "movabs $0x400000002, %rax\n mov %rax, (%rbx)\n"
        "add $40, %rbx\n"
        "4:\n"
        CLAIM
        "7:\n" RESTORE "jmp *%rcx\n");

static opnd_t
word(void *drcontext, uint index)
{
    return dr_raw_tls_opnd(drcontext, tls_register, tls_offset + index * 8);
}

static void
insert(instrlist_t *bb, instr_t *where, instr_t *instr)
{
    instrlist_meta_preinsert(bb, where, instr);
}

static void
save(void *drcontext, instrlist_t *bb, instr_t *where, uint index, reg_id_t reg)
{
    insert(bb, where,
           INSTR_CREATE_mov_st(drcontext, word(drcontext, index), opnd_create_reg(reg)));
}

static void
restore(void *drcontext, instrlist_t *bb, instr_t *where, uint index, reg_id_t reg)
{
    insert(bb, where,
           INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(reg), word(drcontext, index)));
}

/* Stores the program's value of `reg`, by way of rcx. */
static void
pass(void *drcontext, instrlist_t *bb, instr_t *where, uint index, reg_id_t reg)
{
    insert(bb, where,
           INSTR_CREATE_mov_ld(drcontext, opnd_create_reg(DR_REG_RCX),
                               thread_app_value(drcontext, reg)));
    save(drcontext, bb, where, index, DR_REG_RCX);
}

static void
call_shared(void *drcontext, instrlist_t *bb, instr_t *where, void (*code)(void))
{
    instr_t *back = INSTR_CREATE_label(drcontext);
    save(drcontext, bb, where, SAVED_RDX, DR_REG_RDX);
    insert(bb, where,
           INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(DR_REG_RDX),
                                OPND_CREATE_INT64((int64)tls_offset)));
    insert(bb, where,
           INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(DR_REG_RCX), opnd_create_instr(back)));
    insert(bb, where, INSTR_CREATE_jmp(drcontext, opnd_create_pc((app_pc)code)));
    insert(bb, where, back);
    restore(drcontext, bb, where, SAVED_RDX, DR_REG_RDX);
}

void
alloc_watch_entry(void *drcontext, instrlist_t *bb, instr_t *instr, uint call)
{
    save(drcontext, bb, instr, SAVED_RCX, DR_REG_RCX);
    pass(drcontext, bb, instr, NEW_ARG0, DR_REG_RDI);
    pass(drcontext, bb, instr, NEW_ARG1, DR_REG_RSI);
    pass(drcontext, bb, instr, NEW_ARG2, DR_REG_RDX);
    insert(bb, instr,
           INSTR_CREATE_mov_imm(drcontext, opnd_create_reg(DR_REG_RCX),
                                OPND_CREATE_INT64((int64)call)));
    save(drcontext, bb, instr, NEW_CALL, DR_REG_RCX);
    call_shared(drcontext, bb, instr, alloc_on_entry);
    restore(drcontext, bb, instr, SAVED_RCX, DR_REG_RCX);
}

/* The common return costs six instructions and leaves the flags alone. */
void
alloc_watch_return(void *drcontext, instrlist_t *bb, instr_t *instr)
{
    instr_t *hit = INSTR_CREATE_label(drcontext);
    instr_t *done = INSTR_CREATE_label(drcontext);
    save(drcontext, bb, instr, SAVED_RCX, DR_REG_RCX);
    restore(drcontext, bb, instr, MINUS_SP, DR_REG_RCX);
    insert(bb, instr,
           INSTR_CREATE_lea(drcontext, opnd_create_reg(DR_REG_RCX),
                            opnd_create_base_disp(DR_REG_RSP, DR_REG_RCX, 1, 0, OPSZ_lea)));
    insert(bb, instr, INSTR_CREATE_jecxz(drcontext, opnd_create_instr(hit)));
    insert(bb, instr, INSTR_CREATE_jmp(drcontext, opnd_create_instr(done)));
    insert(bb, instr, hit);
    pass(drcontext, bb, instr, RESULT, DR_REG_RAX);
    call_shared(drcontext, bb, instr, alloc_on_return);
    insert(bb, instr, done);
    restore(drcontext, bb, instr, SAVED_RCX, DR_REG_RCX);
}

/* Code that hands the buffer over and begins `again` anew. */
static byte *
make_full(void *drcontext, byte *at, void (*again)(void))
{
    instrlist_t *code = instrlist_create(drcontext);
    instr_t *back = INSTR_CREATE_jmp(drcontext, opnd_create_pc((app_pc)again));
    instrlist_meta_append(code, back);
    dr_insert_clean_call(drcontext, code, back, (void *)thread_full, false, 0);
    byte *end = instrlist_encode(drcontext, code, at, false);
    instrlist_clear_and_destroy(drcontext, code);
    return end;
}

static void
on_thread_init(void *drcontext)
{
    uint64 *words = (uint64 *)((byte *)dr_get_dr_segment_base(tls_register) + tls_offset);
    memset(words, 0, TLS_WORDS * 8);
}

bool
alloc_watch_init(void)
{
    void *drcontext = dr_get_current_drcontext();
    if (!dr_raw_tls_calloc(&tls_register, &tls_offset, TLS_WORDS, 0))
        return false;
    alloc_write_at = (uint64)opnd_get_disp(thread_slot(drcontext, TLS_WRITE));
    alloc_limit_at = (uint64)opnd_get_disp(thread_slot(drcontext, TLS_LIMIT));
    full_code = dr_nonheap_alloc(FULL_CODE_BYTES,
                                 DR_MEMPROT_READ | DR_MEMPROT_WRITE | DR_MEMPROT_EXEC);
    alloc_entry_full = full_code;
    alloc_return_full = make_full(drcontext, alloc_entry_full, alloc_on_entry);
    make_full(drcontext, alloc_return_full, alloc_on_return);
    dr_memory_protect(full_code, FULL_CODE_BYTES, DR_MEMPROT_READ | DR_MEMPROT_EXEC);
    return drmgr_register_thread_init_event(on_thread_init);
}

void
alloc_watch_exit(void)
{
    dr_nonheap_free(full_code, FULL_CODE_BYTES);
    dr_raw_tls_cfree(tls_offset, TLS_WORDS);
}
