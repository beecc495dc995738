/* Runs random blocks, each from a state that its number decides, and prints a hash of all registers
 * and memory behind each. Faults are hashed with what their handler is told, and repaired.
 *
 * With a block's number as argument it prints that block's state instead. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../../../include/prestore_region.h"

enum { PAGE = 4096, ARENA = 4 * PAGE, STACK = 4096, LOCAL = 256, MAX_BLOCKS = 4096, TILES = 64 + 8 * 1024 };

typedef struct {
    uint64_t number;
    char *begin, *end;
    uint64_t flags, random, constant, constant_vectors, protect[2];
    uint64_t regs[16];
} block_t;

/* As the assembly knows it. */
typedef struct {
    uint64_t regs[16], flags, spare, mxcsr, spare2[5];
    uint8_t x87[512];
    uint8_t vectors[32][64];
    uint64_t masks[8];
} state_t;

_Static_assert(__builtin_offsetof(state_t, mxcsr) == 144, "mxcsr");
_Static_assert(__builtin_offsetof(state_t, x87) == 192, "x87");
_Static_assert(__builtin_offsetof(state_t, vectors) == 704, "vectors");
_Static_assert(__builtin_offsetof(state_t, masks) == 2752, "masks");

extern const block_t blocks[];
extern const uint64_t n_blocks, rounds, tick, level, with_tiles;
extern state_t state;
/* Configuration and tiles, behind a block that left some. */
extern uint8_t tiles[TILES];
extern char *target, arena[], stack[], before[], beyond[];
extern __thread char local[];
extern const struct {
    char *at, *next;
} __start_skips[], __stop_skips[];
void enter(void);

static char pristine[ARENA + STACK];
static state_t initial;
static const block_t *running;
static volatile int inside;
static uint64_t faults, fault_hash, wanted = UINT64_MAX;
static volatile uint64_t wrong_ticks;
static uint64_t hashes[MAX_BLOCKS];

/* The parts of vector registers beyond the first 16 bytes: which, of which registers, and where. */
static struct {
    int component, first, to, bytes;
    uint32_t offset;
} parts[] = { { 2, 0, 16, 16, 0 }, { 6, 0, 32, 32, 0 }, { 7, 16, 0, 64, 0 } };
static int n_parts;
/* Where frames have the tiles' configuration, and the tiles. */
static uint32_t tiles_at[2];

static uint64_t
mix(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static uint64_t
hash(uint64_t h, const void *from, size_t bytes)
{
    const char *p = from;
    uint64_t word;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        memcpy(&word, p, 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15;
        h ^= h >> 29;
    }
    return h;
}

static void
say(const char *what, uint64_t a, uint64_t b)
{
    char line[160];
    int n = snprintf(line, sizeof(line), "block %llu: %s %#llx %#llx\n",
                     running == NULL ? -1ull : (unsigned long long)running->number, what,
                     (unsigned long long)a, (unsigned long long)b);
    if (write(1, line, (size_t)n) < 0)
        _exit(8);
}

/* Numbers in ucontext's order of the registers in the processor's. */
static const int order[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                               REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                               REG_R12, REG_R13, REG_R14, REG_R15 };

/* A vector register's parts, wherever the frame of the signal has them. */
static void
vector_of(const ucontext_t *context, int number, uint8_t out[64])
{
    const char *area = (const char *)context->uc_mcontext.fpregs;
    uint64_t present;
    uint32_t magic;
    memset(out, 0, 64);
    memcpy(&magic, area + 464, 4);
    memcpy(&present, area + 512, 8);
    if (number < 16)
        memcpy(out, area + 160 + 16 * number, 16);
    if (magic != 0x46505853) /* no extended state */
        return;
    for (int i = 0; i < n_parts; i++) {
        int index = number - parts[i].first;
        if ((present >> parts[i].component & 1) && index >= 0 && index < 16)
            memcpy(out + parts[i].to, area + parts[i].offset + parts[i].bytes * index,
                   (size_t)parts[i].bytes);
    }
}

/* The tiles' configuration and the tiles, or nothing. */
static void
tiles_of(const ucontext_t *context, uint8_t out[TILES])
{
    const char *area = (const char *)context->uc_mcontext.fpregs;
    uint64_t present;
    memset(out, 0, TILES);
    memcpy(&present, area + 512, 8);
    if (present >> 17 & 1)
        memcpy(out, area + tiles_at[0], 64);
    if (present >> 18 & 1)
        memcpy(out + 64, area + tiles_at[1], TILES - 64);
}

static void
on_fault(int signal, siginfo_t *info, void *data)
{
    ucontext_t *context = data;
    greg_t *regs = context->uc_mcontext.gregs;
    char *at = info->si_addr, *pc = (char *)regs[REG_RIP], *next = NULL;
    for (int i = 0; &__start_skips[i] < __stop_skips; i++) {
        if (__start_skips[i].at == pc)
            next = __start_skips[i].next;
    }
    int page = at >= arena && at < arena + ARENA ? (int)((at - arena) / PAGE) : -1;
    if (!inside || pc < running->begin || pc >= running->end ||
        (next == NULL && (signal != SIGSEGV || page < 2))) {
        say("unexpected signal", (uint64_t)signal, (uint64_t)pc);
        say("at", (uint64_t)at, running == NULL ? 0 : (uint64_t)running->begin);
        _exit(9);
    }
    /* RF tells the processor to go on with the same instruction; the kernel's frame has it set. */
    uint64_t flags = (uint64_t)regs[REG_EFL] & ~0x10000ull, h = fault_hash;
    faults++;
    h = hash(h, &(uint64_t){ (uint64_t)signal }, 8);
    h = hash(h, &(uint64_t){ (uint64_t)pc }, 8);
    h = hash(h, &(uint64_t){ (uint64_t)at }, 8);
    h = hash(h, &flags, 8);
    for (int i = 0; i < 16; i++)
        h = hash(h, &regs[order[i]], 8);
    uint8_t vector[64];
    for (int i = 0; i < (level == 2 ? 32 : 16); i++) {
        vector_of(context, i, vector);
        h = hash(h, vector, 64);
    }
    static uint8_t found[TILES];
    if (with_tiles) {
        tiles_of(context, found);
        h = hash(h, found, TILES);
    }
    if (running->number == wanted) {
        say("fault: signal, pc", (uint64_t)signal, (uint64_t)(pc - running->begin));
        say("fault: address, flags", (uint64_t)at, flags);
        for (int i = 0; i < 16; i++)
            say("fault: register", (uint64_t)i, (uint64_t)regs[order[i]]);
        for (int i = 0; i < (level == 2 ? 32 : 16); i++) {
            vector_of(context, i, vector);
            say("fault: vector", (uint64_t)i, hash(0, vector, 64));
        }
        for (int i = 0; i < TILES && with_tiles; i += 64)
            say("fault: tiles at", (uint64_t)i, hash(0, found + i, 64));
    }
    fault_hash = h;
    if (next != NULL)
        regs[REG_RIP] = (greg_t)next;
    else
        mprotect(arena + page * PAGE, PAGE, PROT_READ | PROT_WRITE);
}

/* Where it comes is random; what the block leaves alone must be there. */
static void
on_tick(int signal, siginfo_t *info, void *data)
{
    const ucontext_t *context = data;
    const greg_t *regs = context->uc_mcontext.gregs;
    const block_t *block = running;
    char *pc = (char *)regs[REG_RIP];
    uint8_t vector[64];
    uint64_t flags;
    __asm__ volatile("pushfq; popq %0" : "=r"(flags));
    if (flags & 0x400)
        wrong_ticks++;
    if (!inside || pc < block->begin || pc >= block->end)
        return;
    for (int i = 0; i < 16; i++)
        wrong_ticks += (block->constant >> i & 1) && (uint64_t)regs[order[i]] != initial.regs[i];
    for (int i = 0; i < (level == 2 ? 32 : 16); i++) {
        if (!(block->constant_vectors >> i & 1))
            continue;
        vector_of(context, i, vector);
        wrong_ticks += memcmp(vector, initial.vectors[i], (size_t)16 << level) != 0;
    }
}

static void
prepare(const block_t *block, uint64_t round)
{
    uint64_t seed = block->number * 1000003 + round;
    memset(&state, 0, sizeof(state));
    memset(tiles, 0, TILES);
    for (int i = 0; i < 16; i++) {
        uint64_t any = mix(&seed);
        /* Small numbers, too. */
        if (any % 4 == 0)
            any >>= 32 + any / 4 % 30;
        state.regs[i] = block->random >> i & 1 ? any : block->regs[i];
    }
    state.flags = block->flags | 0x202;
    state.mxcsr = 0x1f80;
    for (int i = 0; i < (level == 2 ? 32 : 16); i++) {
        uint64_t lanes[8] = { 0 };
        for (int j = 0; j < 2 << level; j++) {
            lanes[j] = mix(&seed);
            if (i % 3 == 0) /* numbers between 1 and 2 */
                lanes[j] = (lanes[j] >> 12 | 0x3ff0000000000000) & 0xffffffff3fffffff;
        }
        memcpy(state.vectors[i], lanes, sizeof(lanes));
    }
    for (int i = 0; i < 8 && level == 2; i++)
        state.masks[i] = mix(&seed);
    memcpy(arena, pristine, ARENA);
    memcpy(stack, pristine + ARENA, STACK);
    memcpy(local, pristine, LOCAL);
    initial = state;
    target = block->begin;
}

static void
run(const block_t *block, uint64_t round)
{
    static const int rights[] = { PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE };
    prepare(block, round);
    for (int i = 0; i < 2; i++) {
        if (block->protect[i] != 0)
            mprotect(arena + (2 + i) * PAGE, PAGE, rights[block->protect[i]]);
    }
    fault_hash = faults = 0;
    running = block;
    inside = 1;
    enter();
    inside = 0;
    for (int i = 0; i < 2; i++) {
        if (block->protect[i] != 0)
            mprotect(arena + (2 + i) * PAGE, PAGE, PROT_READ | PROT_WRITE);
    }

    uint64_t h = hash(hashes[block - blocks], &state, sizeof(state));
    h = hash(h, arena, ARENA);
    h = hash(h, stack, STACK);
    h = hash(h, local, LOCAL);
    if (tiles[0] != 0)
        h = hash(h, tiles, TILES);
    h = hash(h, &faults, 8);
    hashes[block - blocks] = hash(h, &fault_hash, 8);
    if (block->number != wanted)
        return;
    say("round, faults", round, faults);
    say("flags, mxcsr", state.flags, state.mxcsr);
    for (int i = 0; i < 16; i++)
        say("register", (uint64_t)i, state.regs[i]);
    for (int i = 0; i < 32; i++)
        say("vector", (uint64_t)i, hash(0, state.vectors[i], 64));
    for (int i = 0; i < 8; i++)
        say("mask", (uint64_t)i, state.masks[i]);
    for (int i = 0; i < 512; i += 16)
        say("x87 at", (uint64_t)i, hash(0, state.x87 + i, 16));
    for (int i = 0; i < TILES && tiles[0] != 0; i += 64)
        say("tiles at", (uint64_t)i, hash(0, tiles + i, 64));
    for (int i = 0; i < ARENA; i += 8) {
        if (memcmp(arena + i, pristine + i, 8) != 0)
            say("arena at", (uint64_t)i, *(uint64_t *)(arena + i));
    }
    for (int i = 0; i < STACK; i += 8) {
        if (memcmp(stack + i, pristine + ARENA + i, 8) != 0)
            say("stack at", (uint64_t)i, *(uint64_t *)(stack + i));
    }
    for (int i = 0; i < LOCAL; i += 8)
        say("thread's", (uint64_t)i, *(uint64_t *)(local + i));
}

int
main(int argc, char **argv)
{
    static char signal_stack[1 << 16];
    uint64_t seed = 7;
    if (argc > 1)
        wanted = strtoull(argv[1], NULL, 10);
    if (n_blocks > MAX_BLOCKS)
        return 2;
    n_parts = level == 2 ? 3 : (int)level;
    for (int i = 0; i < n_parts; i++) {
        uint32_t a, c, d;
        __get_cpuid_count(13, (uint32_t)parts[i].component, &a, &parts[i].offset, &c, &d);
    }
    if (with_tiles) {
        uint32_t a, c, d;
        /* No request, no tiles. */
        if (syscall(SYS_arch_prctl, 0x1023, 18) != 0)
            return 3;
        for (uint32_t i = 0; i < 2; i++)
            __get_cpuid_count(13, 17 + i, &a, &tiles_at[i], &c, &d);
    }
    for (size_t i = 0; i < sizeof(pristine); i += 8) {
        uint64_t word = mix(&seed);
        memcpy(pristine + i, &word, 8);
    }
    mprotect(before, PAGE, PROT_NONE);
    mprotect(beyond, PAGE, PROT_NONE);
    sigaltstack(&(stack_t){ .ss_sp = signal_stack, .ss_size = sizeof(signal_stack) }, NULL);
    struct sigaction fault = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    struct sigaction ticked = { .sa_sigaction = on_tick,
                                .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
    sigaddset(&fault.sa_mask, SIGALRM);
    sigaction(SIGSEGV, &fault, NULL);
    sigaction(SIGBUS, &fault, NULL);
    sigaction(SIGFPE, &fault, NULL);
    sigaction(SIGILL, &fault, NULL);
    sigaction(SIGTRAP, &fault, NULL);
    sigaction(SIGALRM, &ticked, NULL);
    struct itimerval often = { { 0, (long)tick }, { 0, (long)tick } }, never = { 0 };
    setitimer(ITIMER_REAL, &often, NULL);
    for (uint64_t round = 0; round < rounds; round++) {
        PRESTORE_REGION_BEGIN(1);
        for (uint64_t i = 0; i < n_blocks; i += 2)
            run(&blocks[i], round);
        PRESTORE_REGION_END(1);
        for (uint64_t i = 1; i < n_blocks; i += 2)
            run(&blocks[i], round);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    for (uint64_t i = 0; i < n_blocks; i++)
        printf("%llu %016llx\n", (unsigned long long)blocks[i].number,
               (unsigned long long)hashes[i]);
    printf("wrong ticks %llu\n", (unsigned long long)wrong_ticks);
    return 0;
}
