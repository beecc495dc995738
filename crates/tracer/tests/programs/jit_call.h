/* Calls made code with every register and flag holding a known value, and tells what they hold
 * afterwards. */
#ifndef JIT_CALL_H
#define JIT_CALL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15, REGS };

typedef struct {
    uint64_t reg[REGS]; /* rsp's is not used */
    uint64_t flags;
    const void *code;
    uint64_t saved_rsp;
} state_t;

/* Carry, parity, auxiliary, zero, sign, direction, overflow. */
#define FLAGS 0xcd5u

/* Runs state->code, which ends with a return. */
void jit_call(state_t *state);
__asm__(".text\n.globl jit_call\njit_call:\n"
        "  push %rbx\n  push %rbp\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
        "  push %rdi\n" /* the state, for afterwards */
        "  mov %rsp, 144(%rdi)\n"
        "  push 128(%rdi)\n  popf\n"
        "  mov 0(%rdi), %rax\n  mov 8(%rdi), %rcx\n  mov 16(%rdi), %rdx\n  mov 24(%rdi), %rbx\n"
        "  mov 40(%rdi), %rbp\n  mov 48(%rdi), %rsi\n"
        "  mov 64(%rdi), %r8\n  mov 72(%rdi), %r9\n  mov 80(%rdi), %r10\n  mov 88(%rdi), %r11\n"
        "  mov 96(%rdi), %r12\n  mov 104(%rdi), %r13\n  mov 112(%rdi), %r14\n"
        "  mov 120(%rdi), %r15\n"
        "  push 136(%rdi)\n"
        "  mov 56(%rdi), %rdi\n"
        "  call *(%rsp)\n"
        "  lea 8(%rsp), %rsp\n"
        "  push %rdi\n"
        "  mov 8(%rsp), %rdi\n"
        "  pop 56(%rdi)\n"
        "  mov %rax, 0(%rdi)\n  mov %rcx, 8(%rdi)\n  mov %rdx, 16(%rdi)\n  mov %rbx, 24(%rdi)\n"
        "  mov %rbp, 40(%rdi)\n  mov %rsi, 48(%rdi)\n"
        "  mov %r8, 64(%rdi)\n  mov %r9, 72(%rdi)\n  mov %r10, 80(%rdi)\n  mov %r11, 88(%rdi)\n"
        "  mov %r12, 96(%rdi)\n  mov %r13, 104(%rdi)\n  mov %r14, 112(%rdi)\n"
        "  mov %r15, 120(%rdi)\n"
        "  pushf\n  pop 128(%rdi)\n  cld\n"
        "  pop %rdi\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbp\n  pop %rbx\n  ret\n");

/* Code under construction. */
typedef struct {
    uint8_t *at;
} maker_t;

static inline void
bytes(maker_t *m, const char *code, size_t n)
{
    memcpy(m->at, code, n);
    m->at += n;
}

#define CODE(m, literal) bytes(m, literal, sizeof(literal) - 1)

static inline void
imm32(maker_t *m, uint32_t value)
{
    memcpy(m->at, &value, sizeof(value));
    m->at += sizeof(value);
}

static inline uint8_t *
pages(size_t n, int prot)
{
    void *map = mmap(NULL, n * 4096, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    return map;
}

#define RWX (PROT_READ | PROT_WRITE | PROT_EXEC)

static inline uint64_t
mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 29;
    return x;
}

/* Values that depend on `round`. */
static inline void
fill(state_t *s, uint64_t round)
{
    for (int i = 0; i < REGS; i++)
        s->reg[i] = mix(round * REGS + (uint64_t)i + 1);
    s->flags = (mix(round + 77) & FLAGS & ~0x400u) | 0x202;
}

extern const char *const jit_reg_names[REGS + 1];

/* Compares all registers and flags with what they should be; says so and counts what differs. */
static inline int
differs(const char *what, uint64_t round, const state_t *is, const state_t *should)
{
    int wrong = 0;
    for (int i = 0; i < REGS; i++) {
        if (i == RSP || is->reg[i] == should->reg[i])
            continue;
        printf("%s, round %llu: %s is %llx, should be %llx\n", what, (unsigned long long)round,
               jit_reg_names[i], (unsigned long long)is->reg[i],
               (unsigned long long)should->reg[i]);
        wrong++;
    }
    if ((is->flags & FLAGS) != (should->flags & FLAGS)) {
        printf("%s, round %llu: flags are %llx, should be %llx\n", what,
               (unsigned long long)round, (unsigned long long)(is->flags & FLAGS),
               (unsigned long long)(should->flags & FLAGS));
        wrong++;
    }
    return wrong;
}

#endif
