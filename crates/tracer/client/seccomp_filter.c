#include "seccomp_filter.h"

#include <string.h>

int
seccomp_filter_valid(const struct sock_filter *code, unsigned len)
{
    if (len == 0 || len > BPF_MAXINSNS)
        return 0;
    for (unsigned at = 0; at < len; at++) {
        uint32_t k = code[at].k;
        unsigned left = len - at - 1;
        switch (code[at].code) {
        case BPF_LD | BPF_W | BPF_ABS:
            if (k >= sizeof(struct seccomp_data) || (k & 3) != 0)
                return 0;
            break;
        case BPF_ALU | BPF_DIV | BPF_K:
            if (k == 0)
                return 0;
            break;
        case BPF_ALU | BPF_LSH | BPF_K:
        case BPF_ALU | BPF_RSH | BPF_K:
            if (k >= 32)
                return 0;
            break;
        case BPF_LD | BPF_MEM:
        case BPF_LDX | BPF_MEM:
        case BPF_ST:
        case BPF_STX:
            if (k >= BPF_MEMWORDS)
                return 0;
            break;
        case BPF_JMP | BPF_JA:
            if (k >= left)
                return 0;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
        case BPF_JMP | BPF_JEQ | BPF_X:
        case BPF_JMP | BPF_JGE | BPF_K:
        case BPF_JMP | BPF_JGE | BPF_X:
        case BPF_JMP | BPF_JGT | BPF_K:
        case BPF_JMP | BPF_JGT | BPF_X:
        case BPF_JMP | BPF_JSET | BPF_K:
        case BPF_JMP | BPF_JSET | BPF_X:
            if (code[at].jt >= left || code[at].jf >= left)
                return 0;
            break;
        case BPF_LD | BPF_W | BPF_LEN:
        case BPF_LDX | BPF_W | BPF_LEN:
        case BPF_LD | BPF_IMM:
        case BPF_LDX | BPF_IMM:
        case BPF_RET | BPF_K:
        case BPF_RET | BPF_A:
        case BPF_ALU | BPF_ADD | BPF_K:
        case BPF_ALU | BPF_ADD | BPF_X:
        case BPF_ALU | BPF_SUB | BPF_K:
        case BPF_ALU | BPF_SUB | BPF_X:
        case BPF_ALU | BPF_MUL | BPF_K:
        case BPF_ALU | BPF_MUL | BPF_X:
        case BPF_ALU | BPF_DIV | BPF_X:
        case BPF_ALU | BPF_AND | BPF_K:
        case BPF_ALU | BPF_AND | BPF_X:
        case BPF_ALU | BPF_OR | BPF_K:
        case BPF_ALU | BPF_OR | BPF_X:
        case BPF_ALU | BPF_XOR | BPF_K:
        case BPF_ALU | BPF_XOR | BPF_X:
        case BPF_ALU | BPF_LSH | BPF_X:
        case BPF_ALU | BPF_RSH | BPF_X:
        case BPF_ALU | BPF_NEG:
        case BPF_MISC | BPF_TAX:
        case BPF_MISC | BPF_TXA: break;
        default: return 0;
        }
    }
    return BPF_CLASS(code[len - 1].code) == BPF_RET;
}

static uint32_t
calculate(unsigned operation, uint32_t a, uint32_t b)
{
    switch (operation) {
    case BPF_ADD: return a + b;
    case BPF_SUB: return a - b;
    case BPF_MUL: return a * b;
    case BPF_DIV: return a / b;
    case BPF_AND: return a & b;
    case BPF_OR: return a | b;
    case BPF_XOR: return a ^ b;
    case BPF_LSH: return a << (b & 31);
    case BPF_RSH: return a >> (b & 31);
    default: return -a; /* BPF_NEG */
    }
}

static int
holds(unsigned comparison, uint32_t a, uint32_t b)
{
    switch (comparison) {
    case BPF_JEQ: return a == b;
    case BPF_JGE: return a >= b;
    case BPF_JGT: return a > b;
    default: return (a & b) != 0; /* BPF_JSET */
    }
}

static uint32_t
load(const struct sock_filter *i, const struct seccomp_data *call, const uint32_t *memory)
{
    uint32_t word;
    switch (BPF_MODE(i->code)) {
    case BPF_ABS: memcpy(&word, (const char *)call + i->k, sizeof(word)); return word;
    case BPF_MEM: return memory[i->k];
    case BPF_LEN: return sizeof(*call);
    default: return i->k; /* BPF_IMM */
    }
}

uint32_t
seccomp_filter_run(const struct sock_filter *code, const struct seccomp_data *call)
{
    uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = { 0 };
    for (const struct sock_filter *i = code;; i++) {
        uint32_t operand = BPF_SRC(i->code) == BPF_X ? x : i->k;
        switch (BPF_CLASS(i->code)) {
        case BPF_LD: a = load(i, call, memory); break;
        case BPF_LDX: x = load(i, call, memory); break;
        case BPF_ST: memory[i->k] = a; break;
        case BPF_STX: memory[i->k] = x; break;
        case BPF_ALU:
            if (BPF_OP(i->code) == BPF_DIV && operand == 0)
                return SECCOMP_RET_KILL_THREAD;
            a = calculate(BPF_OP(i->code), a, operand);
            break;
        case BPF_JMP:
            if (BPF_OP(i->code) == BPF_JA)
                i += i->k;
            else
                i += holds(BPF_OP(i->code), a, operand) ? i->jt : i->jf;
            break;
        case BPF_RET: return BPF_RVAL(i->code) == BPF_A ? a : i->k;
        default: /* BPF_MISC */
            if (BPF_MISCOP(i->code) == BPF_TAX)
                x = a;
            else
                a = x;
        }
    }
}
