/* Code that writes code: every kind of store, to its own block, its own page and other pages that ran
 * before. Each piece runs with known values in all registers and flags, and says what came out
 * otherwise than the processor's manual promises. */
#include "jit_call.h"

const char *const jit_reg_names[REGS + 1] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                              "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                              "r12", "r13", "r14", "r15", "flags" };

#define ROUNDS 60

static int wrong;

static void
check(const char *what, uint64_t round, state_t *s, const state_t *should)
{
    s->flags |= 0;
    wrong += differs(what, round, s, should);
}

/* mov $VALUE, %eax; ret */
static uint8_t *
constant(uint8_t *at, uint32_t value)
{
    maker_t m = { at };
    CODE(&m, "\xb8");
    imm32(&m, value);
    CODE(&m, "\xc3");
    return at;
}

static void
run_constant(const char *what, uint64_t round, const uint8_t *code, uint32_t value)
{
    state_t s, should;
    fill(&s, round);
    should = s;
    should.reg[RAX] = value;
    s.code = code;
    jit_call(&s);
    check(what, round, &s, &should);
}

/* Stores %ecx through %rdx amid work on the other registers; the flags live across. */
static void
store_elsewhere(const char *what, uint8_t *writer, uint8_t *target)
{
    maker_t m = { writer };
    CODE(&m, "\x4d\x8d\x04\x30"     /* lea (%r8,%rsi),%r8 */
             "\x48\x8d\x5b\x01"     /* lea 1(%rbx),%rbx */
             "\x89\x4a\x01"         /* mov %ecx,1(%rdx) */
             "\x4d\x11\xf7"         /* adc %r14,%r15 */
             "\x49\x8d\x40\x07"     /* lea 7(%r8),%rax */
             "\xc3");
    constant(target, 0);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        state_t s, should;
        fill(&s, round);
        s.reg[RDX] = (uint64_t)target;
        should = s;
        should.reg[R8] += s.reg[RSI];
        should.reg[RBX]++;
        unsigned __int128 sum = (unsigned __int128)s.reg[R15] + s.reg[R14] + (s.flags & 1);
        should.reg[R15] = (uint64_t)sum;
        should.reg[RAX] = should.reg[R8] + 7;
        s.code = writer;
        jit_call(&s);
        /* Of adc's flags only the carry is of interest. */
        should.flags = (s.flags & ~1ull) | (uint64_t)(sum >> 64);
        check(what, round, &s, &should);
        run_constant(what, round, target, (uint32_t)s.reg[RCX]);
    }
}

/* Flags that live across the store and over the return. */
static void
flags_survive(const char *what, uint8_t *writer, uint8_t *target)
{
    maker_t m = { writer };
    CODE(&m, "\x89\x4a\x01" /* mov %ecx,1(%rdx) */
             "\xc3");
    constant(target, 0);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        state_t s, should;
        fill(&s, round + 1000);
        s.reg[RDX] = (uint64_t)target;
        should = s;
        s.code = writer;
        jit_call(&s);
        check(what, round, &s, &should);
        run_constant(what, round, target, (uint32_t)s.reg[RCX]);
    }
}

/* The store changes the constant of an instruction `gap` nops behind it, in its own block. */
static void
own_block(const char *what, uint8_t *code, int gap)
{
    maker_t m = { code };
    CODE(&m, "\x48\x8d\x5b\x01" /* lea 1(%rbx),%rbx */
             "\x89\x4a\x01");   /* mov %ecx,1(%rdx) */
    for (int i = 0; i < gap; i++)
        CODE(&m, "\x90");
    uint8_t *changed = m.at;
    CODE(&m, "\xb8\0\0\0\0\xc3"); /* mov $0,%eax; ret */
    for (uint64_t round = 0; round < ROUNDS; round++) {
        state_t s, should;
        fill(&s, round + 2000);
        s.reg[RDX] = (uint64_t)changed;
        should = s;
        should.reg[RBX]++;
        should.reg[RAX] = (uint32_t)s.reg[RCX];
        s.code = code;
        jit_call(&s);
        check(what, round, &s, &should);
    }
}

/* The next instruction becomes one that reads the flags, or one that writes them. */
static void
next_reads_flags(const char *what, uint8_t *code)
{
    maker_t m = { code };
    CODE(&m, "\x89\x0a"); /* mov %ecx,(%rdx) */
    uint8_t *changed = m.at;
    CODE(&m, "\x48\x01\xd8\x90" /* add %rbx,%rax; nop */
             "\xc3");
    for (uint64_t round = 0; round < ROUNDS; round++) {
        state_t s, should;
        fill(&s, round + 3000);
        s.reg[RDX] = (uint64_t)changed;
        /* add or adc */
        s.reg[RCX] = (round & 1) != 0 ? 0x90d80148 : 0x90d81148;
        should = s;
        should.reg[RAX] += s.reg[RBX] + ((round & 1) != 0 ? 0 : s.flags & 1);
        s.code = code;
        jit_call(&s);
        should.flags = s.flags;
        check(what, round, &s, &should);
    }
}

/* Code that begins with a write of the flags becomes code that hands them on, by somebody else. */
static void
becomes_transparent(const char *what, uint8_t *code)
{
    for (uint64_t round = 0; round < ROUNDS; round++) {
        state_t s, should;
        fill(&s, round + 4000);
        should = s;
        if (round % 3 == 0) {
            memcpy(code, "\x48\x31\xc0\xc3", 4); /* xor %rax,%rax; ret */
            should.reg[RAX] = 0;
            should.flags = 0x44;
        } else {
            memcpy(code, "\x48\x8b\xc3\xc3", 4); /* mov %rbx,%rax; ret */
            should.reg[RAX] = s.reg[RBX];
        }
        s.code = code;
        jit_call(&s);
        if (round % 3 == 0)
            should.flags |= s.flags & 0x10;
        check(what, round, &s, &should);
    }
}

/* Copies `target`'s new code there, upwards or downwards. */
static void
string_copy(const char *what, uint8_t *writer, uint8_t *target, int down)
{
    uint8_t fresh[16];
    maker_t m = { writer };
    if (down)
        CODE(&m, "\xfd");       /* std */
    CODE(&m, "\xf3\xa4"         /* rep movsb */
             "\xfc"             /* cld */
             "\x4d\x8d\x40\x01" /* lea 1(%r8),%r8 */
             "\xc3");
    constant(target, 0);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        state_t s, should;
        uint32_t value = (uint32_t)mix(round + 9);
        constant(fresh, value);
        fill(&s, round + 5000);
        size_t from = down ? 5 : 0;
        s.reg[RSI] = (uint64_t)fresh + from;
        s.reg[RDI] = (uint64_t)target + from;
        s.reg[RCX] = 6;
        should = s;
        should.reg[RSI] += down ? -6ull : 6;
        should.reg[RDI] += down ? -6ull : 6;
        should.reg[RCX] = 0;
        should.reg[R8]++;
        s.code = writer;
        jit_call(&s);
        check(what, round, &s, &should);
        run_constant(what, round, target, value);
    }
}

/* Stores that also write the register that they address with. */
static void
odd_stores(const char *what, uint8_t *writer, uint8_t *target)
{
    static const char *const code[] = {
        "\x87\x00\xc3\x90",             /* xchg %eax,(%rax) */
        "\x0f\xc1\x00\xc3",             /* xadd %eax,(%rax) */
        "\x0f\x11\x02\xc3",             /* movups %xmm0,(%rdx) */
        "\xf0\x0f\xb1\x0a\xc3",         /* lock cmpxchg %ecx,(%rdx) */
        "\x01\x4a\x01\xc3",             /* add %ecx,1(%rdx) */
        "\x51\x8f\x02\xc3",             /* push %rcx; pop (%rdx) */
    };
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++) {
            state_t s, should;
            maker_t m = { writer };
            bytes(&m, code[i], 5);
            constant(target, 0x1000000);
            fill(&s, round + 6000);
            run_constant(what, round, target, 0x1000000);
            uint32_t old;
            memcpy(&old, target, 4);
            s.reg[RDX] = (uint64_t)target;
            should = s;
            s.code = writer;
            should.flags = 0;
            switch (i) {
            case 0:
            case 1:
                s.reg[RAX] = (uint64_t)target;
                should.reg[RAX] = old;
                break;
            case 3:
                s.reg[RAX] = should.reg[RAX] = old;
                s.reg[RCX] = should.reg[RCX] = old + 0x700;
                break;
            default: break;
            }
            jit_call(&s);
            should.flags = s.flags;
            check(what, round * 10 + i, &s, &should);
            if (i == 3)
                run_constant(what, round, target, 0x1000007);
            if (i == 4)
                run_constant(what, round, target, 0x1000000 + (uint32_t)s.reg[RCX]);
        }
    }
}

int
main(void)
{
    uint8_t *code = pages(16, RWX);
    store_elsewhere("store to another page", code, code + 4096);
    store_elsewhere("store to the same page", code + 2 * 4096, code + 2 * 4096 + 512);
    store_elsewhere("store across pages", code + 4 * 4096, code + 6 * 4096 - 3);
    flags_survive("flags, another page", code + 64, code + 4096 + 64);
    flags_survive("flags, the same page", code + 7 * 4096, code + 7 * 4096 + 300);
    own_block("own block", code + 8 * 4096, 7);
    own_block("next instruction", code + 8 * 4096 + 128, 0);
    own_block("own block across pages", code + 9 * 4096 - 9, 0);
    next_reads_flags("next reads flags", code + 9 * 4096 + 64);
    becomes_transparent("becomes transparent", code + 10 * 4096);
    string_copy("copy up", code + 11 * 4096, code + 12 * 4096, 0);
    string_copy("copy down", code + 11 * 4096 + 64, code + 12 * 4096 + 64, 1);
    string_copy("copy within the page", code + 13 * 4096, code + 13 * 4096 + 64, 0);
    odd_stores("odd stores, another page", code + 14 * 4096, code + 15 * 4096);
    odd_stores("odd stores, the same page", code + 14 * 4096 + 64, code + 14 * 4096 + 128);
    printf("%d wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
}
