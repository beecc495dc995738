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
/* The call in progress's return address, where its frame would be, and what was found there: */
#define FRAME 10
#define NESTED 11
/* Saved by the shared code: */
#define SAVED_RAX 12
#define SAVED_RBX 13
#define SAVED_FLAGS 14
/* The shared code itself: */
#define ON_ENTRY 15
#define ON_RETURN 16
#define TLS_WORDS 17

static reg_id_t tls_register;
static uint tls_offset;

/* Offsets in gs of the record's slots, and the ways to make room, for the shared code. */
__attribute__((used)) static uint64 alloc_write_at, alloc_limit_at;
__attribute__((used)) static byte *alloc_entry_full, *alloc_entry_far, *alloc_return_full;
void alloc_on_entry(void);
void alloc_entry_looked(void);
void alloc_on_return(void);

#define DETOURS_BYTES 8192
static byte *detours;

/* Frames within so many bytes of an unfinished call's may be its own. */
#define NESTED_BYTES 65536

/* The shared code. rcx: way back; rdx: offset of the words in gs; both registers are ours. All other
 * registers, and the flags, stay as they are. */
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
        ".hidden alloc_entry_looked\n .globl alloc_entry_looked\n"
        "alloc_on_entry:\n" SAVE ROOM("alloc_entry_full")
        /* Inside the call in progress? Unless its frame is gone (an exception, a longjmp). */
        "mov " AT(MINUS_SP) ", %rax\n"
        "test %rax, %rax\n jz 2f\n"
        "add %rsp, %rax\n" /* minus the bytes from its frame down to this one */
        "jg 2f\n"
        "cmp $-" VALUE(NESTED_BYTES) ", %rax\n jl 2f\n"
        "neg %rax\n"
        "add %rsp, %rax\n mov %rax, " AT(FRAME) "\n"
        /* The page that the stack pointer is in can be read; others perhaps not: a stack may be
         * small, and the call in progress have been on another. */
        "xor %rsp, %rax\n"
        "cmp $4096, %rax\n jae 8f\n"
        "mov " AT(FRAME) ", %rax\n mov (%rax), %rax\n"
        "cmp %rax, " AT(CALLER) "\n je 7f\n"
        "jmp 2f\n"
        "alloc_entry_looked:\n" SAVE ROOM("alloc_entry_full")
        "cmpq $0, " AT(NESTED) "\n jne 7f\n"
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
        "8:\n" RESTORE "jmp *alloc_entry_far(%rip)\n"

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

static tls_t
word(uint index)
{
    return (tls_t){ tls_register, (int)(tls_offset + index * sizeof(uint64)) };
}

/* Stores the program's value of `reg`, perhaps by way of rcx. */
static void
pass(at_t *at, const regs_t *regs, uint index, reg_id_t reg)
{
    bool in_slot = regs_in_slot(regs, reg);
    if (in_slot)
        code_load_tls(at, DR_REG_RCX, regs_slot(reg));
    code_store_tls(at, word(index), in_slot ? DR_REG_RCX : reg);
}

/* rcx and rdx are ours. */
static void
call_shared(at_t *at, uint code)
{
    code_constant(at, DR_REG_RDX, (int)tls_offset);
    ahead_t back = code_address(at, DR_REG_RCX);
    code_jump_by_tls(at, word(code));
    code_land(at, back);
}

void
alloc_watch_entry(at_t *at, regs_t *regs, uint call)
{
    regs_reserve_this(at, regs, DR_REG_RCX);
    regs_reserve_this(at, regs, DR_REG_RDX);
    pass(at, regs, NEW_ARG0, DR_REG_RDI);
    pass(at, regs, NEW_ARG1, DR_REG_RSI);
    pass(at, regs, NEW_ARG2, DR_REG_RDX);
    code_constant(at, DR_REG_RCX, (int)call);
    code_store_tls(at, word(NEW_CALL), DR_REG_RCX);
    call_shared(at, ON_ENTRY);
    regs_release(regs, DR_REG_RDX);
    regs_release(regs, DR_REG_RCX);
}

/* The common return costs five instructions and leaves the flags alone. */
void
alloc_watch_return(at_t *at, regs_t *regs)
{
    regs_reserve_this(at, regs, DR_REG_RCX);
    code_load_tls(at, DR_REG_RCX, word(MINUS_SP));
    code_sum(at, DR_REG_RCX, DR_REG_RSP, DR_REG_RCX, 1);
    ahead_t hit = code_jump(at, JUMP_RCX_ZERO), done = code_jump(at, JUMP_ALWAYS);
    code_land(at, hit);
    bool borrowed = !regs_in_slot(regs, DR_REG_RDX);
    regs_reserve_this(at, regs, DR_REG_RDX);
    pass(at, regs, RESULT, DR_REG_RAX);
    call_shared(at, ON_RETURN);
    if (borrowed)
        regs_give_back(at, regs, reg_set(DR_REG_RDX));
    code_land(at, done);
    regs_release(regs, DR_REG_RDX);
    regs_release(regs, DR_REG_RCX);
}

static uint64 *
words_of(void *drcontext)
{
    return (uint64 *)(thread_of(drcontext)->base + tls_offset);
}

/* Is the call in progress still so, as far as its frame tells? */
static void
look_at_frame(void)
{
    uint64 *words = words_of(dr_get_current_drcontext());
    uint64 found = 0;
    size_t n;
    bool there = dr_safe_read((void *)words[FRAME], sizeof(found), &found, &n);
    words[NESTED] = there && found == words[CALLER];
}

/* Code that calls `callee` and goes on `then`. */
static byte *
make_detour(void *drcontext, byte *at, void (*callee)(void), void (*then)(void))
{
    instrlist_t *code = instrlist_create(drcontext);
    instr_t *back = INSTR_CREATE_jmp(drcontext, opnd_create_pc((app_pc)then));
    instrlist_meta_append(code, back);
    dr_insert_clean_call(drcontext, code, back, (void *)callee, false, 0);
    byte *end = instrlist_encode(drcontext, code, at, false);
    instrlist_clear_and_destroy(drcontext, code);
    return end;
}

static void
on_thread_init(void *drcontext)
{
    uint64 *words = words_of(drcontext);
    memset(words, 0, TLS_WORDS * 8);
    words[ON_ENTRY] = (uint64)alloc_on_entry;
    words[ON_RETURN] = (uint64)alloc_on_return;
}

bool
alloc_watch_init(void)
{
    void *drcontext = dr_get_current_drcontext();
    if (!dr_raw_tls_calloc(&tls_register, &tls_offset, TLS_WORDS, 0))
        return false;
    alloc_write_at = (uint64)opnd_get_disp(thread_slot(drcontext, TLS_WRITE));
    alloc_limit_at = (uint64)opnd_get_disp(thread_slot(drcontext, TLS_LIMIT));
    detours = dr_nonheap_alloc(DETOURS_BYTES,
                                 DR_MEMPROT_READ | DR_MEMPROT_WRITE | DR_MEMPROT_EXEC);
    alloc_entry_full = detours;
    alloc_return_full = make_detour(drcontext, alloc_entry_full, thread_full, alloc_on_entry);
    alloc_entry_far = make_detour(drcontext, alloc_return_full, thread_full, alloc_on_return);
    make_detour(drcontext, alloc_entry_far, look_at_frame, alloc_entry_looked);
    dr_memory_protect(detours, DETOURS_BYTES, DR_MEMPROT_READ | DR_MEMPROT_EXEC);
    return drmgr_register_thread_init_event(on_thread_init);
}

void
alloc_watch_exit(void)
{
    dr_nonheap_free(detours, DETOURS_BYTES);
    dr_raw_tls_cfree(tls_offset, TLS_WORDS);
}
