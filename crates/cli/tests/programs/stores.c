// Stores of every kind, the values of which a recording is to have.
#define _GNU_SOURCE
#include <cpuid.h>
#include <immintrin.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint8_t memory[1 << 16] __attribute__((aligned(4096)));
static sigjmp_buf before_fault;

static void on_fault(int signal) {
    (void)signal;
    siglongjmp(before_fault, 1);
}

static uint8_t *place(void) {
    static size_t at = 3;
    at += 1024 + 7;
    return memory + at;
}

static void strings(void) {
    uint8_t *to = place(), *from = place();
    for (int i = 0; i < 700; i++)
        from[i] = (uint8_t)(i * 7);
    void *di = to;
    const void *si = from;
    long n = 699;
    __asm__ volatile("rep movsb" : "+D"(di), "+S"(si), "+c"(n)::"memory");
    di = place();
    n = 90;
    __asm__ volatile("rep stosq" : "+D"(di), "+c"(n) : "a"(0x1122334455667788) : "memory");
    // Downwards, over itself, and nothing.
    di = from + 600;
    si = from + 590;
    n = 300;
    __asm__ volatile("std\n rep movsb\n cld" : "+D"(di), "+S"(si), "+c"(n)::"memory");
    n = 0;
    __asm__ volatile("rep stosb" : "+D"(di), "+c"(n) : "a"(1) : "memory");
    di = place();
    __asm__ volatile("stosw" : "+D"(di) : "a"(0x4321) : "memory");
}

// Two pages, of which the second cannot be stored to.
static uint8_t *half_closed(void) {
    uint8_t *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(two + 4096, 4096, PROT_READ);
    return two + 4096;
}

// Half of it can be stored; a handler goes on behind it.
static void half_a_string(void) {
    uint8_t *closed = half_closed();
    if (sigsetjmp(before_fault, 1) == 0) {
        void *di = closed - 1001;
        long n = 2000;
        __asm__ volatile("rep stosb" : "+D"(di), "+c"(n) : "a"(0x5a) : "memory");
    }
    memory[0] = closed[-1];
}

// So many rows of a tile as can be stored, twice over each other; a handler goes on behind it. By bytes: not every assembler knows them.
static void half_a_tile(void) {
    uint8_t *closed = half_closed();
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } config = { .palette = 1, .row_bytes = { 52 }, .rows = { 16 } };
    if (syscall(SYS_arch_prctl, 0x1023, 18) != 0)
        return;
    // A handler has no tiles, and so has who leaves it by a jump.
    for (int i = 0; i < 2; i++) {
        __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0x00" ::"a"(&config), "m"(config)); // ldtilecfg (%rax)
        __asm__ volatile(".byte 0xc4, 0xe2, 0x7b, 0x4b, 0x04, 0x08" // tileloadd (%rax,%rcx), %tmm0
                         ::"a"(memory + 3000), "c"(40L) : "memory");
        if (sigsetjmp(before_fault, 1) == 0)
            __asm__ volatile(".byte 0xc4, 0xe2, 0x7a, 0x4b, 0x04, 0x08" // tilestored %tmm0, (%rax,%rcx)
                             ::"a"(closed - 700 + 20 * i), "c"(77L) : "memory");
    }
    memory[1] = closed[-690];
}

static void stack(void) {
    // Push, call and return, enter and leave, flags.
    __asm__ volatile("sub $128, %%rsp\n"
                     "pushq $0x1234\n pushf\n pushw $7\n add $2, %%rsp\n popq %%rax\n popq (%0)\n"
                     "call 1f\n jmp 2f\n 1: ret\n 2:\n"
                     "enter $32, $0\n leave\n push %%rbp\n lea 64(%%rsp), %%rbp\n enter $64, $3\n leave\n pop %%rbp\n"
                     "add $128, %%rsp" ::"r"(place())
                     : "rax", "memory", "cc");
}

static void atomics(void) {
    uint64_t *p = (uint64_t *)(((uintptr_t)place() + 15) & ~15ul), expected = 5;
    p[0] = 5;
    p[1] = 6;
    __atomic_compare_exchange_n(p, &expected, 9, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    __atomic_compare_exchange_n(p, &expected, 9, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    expected = 1;
    __atomic_compare_exchange_n(p, &expected, 77, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(p, 3, __ATOMIC_SEQ_CST);
    __atomic_exchange_n(p + 1, 0xabcdef, __ATOMIC_SEQ_CST);
    __asm__ volatile("lock orl $0x80, (%0)\n lock btsq %1, (%0)\n btcq %2, (%0)\n"
                     "cmpxchg8b 8(%0)\n lock decw 4(%0)" ::"r"(p + 4),
                     "r"(130L), "r"(-3L), "a"(0), "d"(0), "b"(7), "c"(8)
                     : "memory", "cc");
    if (__builtin_cpu_supports("cmpxchg16b"))
        __asm__ volatile("lock cmpxchg16b (%0)" ::"r"(p), "a"(p[0]), "d"(p[1]), "b"(11), "c"(12)
                         : "memory", "cc");
}

static void states(void) {
    uint8_t *area = (uint8_t *)(((uintptr_t)place() + 63) & ~63ul), *small = place();
    __asm__ volatile("fxsave (%0)" ::"r"(area) : "memory");
    __asm__ volatile("fldpi\n fstpt (%0)\n fnstenv 16(%0)\n fnsave 64(%0)\n frstor 64(%0)\n stmxcsr 200(%0)"
                     ::"r"(small) : "memory");
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE) != 0) {
        static uint8_t large[16384] __attribute__((aligned(64)));
        __asm__ volatile("xsave (%0)" ::"r"(large), "a"(7), "d"(0) : "memory");
        if (__get_cpuid_count(13, 1, &a, &b, &c, &d) && (a & 2) != 0)
            __asm__ volatile("xsavec (%0)" ::"r"(large + 8192), "a"(-1), "d"(-1) : "memory");
    }
}

static void non_temporal(void) {
    uint8_t *p = (uint8_t *)(((uintptr_t)place() + 63) & ~63ul);
    _mm_stream_si64((long long *)p, 0x123456789);
    _mm_stream_si128((__m128i *)(p + 16), _mm_set1_epi32(77));
    _mm_maskmoveu_si128(_mm_set1_epi8(9), _mm_set_epi8(-1, 0, 0, -1, 0, -1, -1, 0, 0, 0, -1, 0, 0, 0, 0, -1),
                        (char *)p + 37);
    _mm_sfence();
}

__attribute__((target("avx2"))) static void avx(void) {
    uint8_t *p = place();
    _mm256_maskstore_epi32((int *)(p + 1), _mm256_set_epi32(-1, 0, -1, -1, 0, 0, -1, 0), _mm256_set1_epi32(0x31415));
    _mm256_storeu_si256((__m256i *)(p + 64), _mm256_set1_epi16(99));
    _mm256_zeroupper();
}

__attribute__((target("avx512f,avx512bw,avx512vl"))) static void avx512(void) {
    uint8_t *p = place();
    __m512i v = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    _mm512_mask_storeu_epi32(p, 0xa50f, v);
    _mm512_mask_storeu_epi8(p + 100, 0x8000000000000001, v);
    _mm512_mask_compressstoreu_epi32(p + 200, 0x1234, v);
    _mm512_mask_i32scatter_epi32(p + 300, 0x5a5a, _mm512_mullo_epi32(v, _mm512_set1_epi32(3)), v, 8);
    _mm512_i64scatter_epi64(p + 700, _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), v, 8);
    // The last of those that go to one place.
    _mm512_i32scatter_epi32(p + 900, _mm512_setzero_si512(), v, 1);
    _mm512_mask_cvtepi32_storeu_epi8(p + 950, 0xf0f0, v);
    _mm512_storeu_si512(p + 960, v);
}

// The lanes before the first that cannot be stored.
__attribute__((target("avx512f"))) static void half_a_scatter(void) {
    uint8_t *closed = half_closed();
    __m512i v = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    if (sigsetjmp(before_fault, 1) == 0)
        _mm512_mask_i32scatter_epi32(closed - 40, 0xfffd, v, _mm512_slli_epi32(v, 20), 8);
    memory[2] = closed[-22];
}

int main(void) {
    stack_t alternative = { .ss_sp = memory + 40000, .ss_size = 16000 };
    sigaltstack(&alternative, NULL);
    struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_ONSTACK };
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < 3; i++) {
        strings();
        half_a_string();
        stack();
        atomics();
        states();
        non_temporal();
        if (__builtin_cpu_supports("avx2"))
            avx();
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512vl"))
            avx512(), half_a_scatter();
        half_a_tile();
    }
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof(memory); i++)
        sum = sum * 31 + memory[i];
    return printf("%u\n", sum) < 0;
}
