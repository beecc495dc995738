/* Threads change code that others execute: each its own piece of a page that all use, and one writer
 * whose changes all others see once they have heard of them. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>

#include "jit_call.h"

const char *const jit_reg_names[REGS + 1] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                              "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                              "r12", "r13", "r14", "r15", "flags" };

enum { THREADS = 4, ROUNDS = 300, TOLD = 60 };

static uint8_t *code;
static volatile int wrong;
static volatile uint32_t told;
static volatile uint32_t heard[THREADS];

/* mov $VALUE, %eax; ret; the value is aligned, so that it changes at once. */
static void
constant(uint8_t *at, uint32_t value)
{
    at[0] = 0xb8;
    __atomic_store_n((uint32_t *)(at + 1), value, __ATOMIC_SEQ_CST);
    at[5] = 0xc3;
}

static void
expect(const char *what, uint64_t round, const uint8_t *at, uint32_t value)
{
    state_t s, should;
    fill(&s, round);
    should = s;
    should.reg[RAX] = value;
    s.code = at;
    jit_call(&s);
    int n = differs(what, round, &s, &should);
    __sync_fetch_and_add(&wrong, n);
}

static void
serialize(void)
{
    uint32_t a = 0, b, c = 0, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d)::"memory");
}

static void *
own_piece(void *number)
{
    uintptr_t n = (uintptr_t)number;
    uint8_t *mine = code + n * 64 + 3;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        constant(mine, i * 10 + (uint32_t)n);
        expect("own piece", i, mine, i * 10 + (uint32_t)n);
    }
    return NULL;
}

static void *
listener(void *number)
{
    uintptr_t n = (uintptr_t)number;
    uint8_t *shared = code + 4096 + 3;
    for (uint32_t i = 1; i <= TOLD; i++) {
        while (__atomic_load_n(&told, __ATOMIC_ACQUIRE) != i)
            sched_yield();
        serialize();
        expect("what another wrote", i, shared, i);
        __atomic_store_n(&heard[n], i, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void
tell_all(void)
{
    for (uint32_t i = 1; i <= TOLD; i++) {
        constant(code + 4096 + 3, i);
        __atomic_store_n(&told, i, __ATOMIC_RELEASE);
        for (int n = 0; n < THREADS; n++) {
            while (__atomic_load_n(&heard[n], __ATOMIC_ACQUIRE) != i)
                sched_yield();
        }
    }
}

static void
all(void *(*run)(void *), void (*meanwhile)(void))
{
    pthread_t threads[THREADS];
    for (uintptr_t n = 0; n < THREADS; n++)
        pthread_create(&threads[n], NULL, run, (void *)n);
    meanwhile();
    for (int n = 0; n < THREADS; n++)
        pthread_join(threads[n], NULL);
}

static void
nothing(void)
{
}

int
main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    code = pages(2, RWX);
    all(own_piece, nothing);
    all(listener, tell_all);
    printf("%d wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
}
