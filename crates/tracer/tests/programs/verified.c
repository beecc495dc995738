/* Without a C library, so that from `verified` to `finished` every register and every byte of memory is
 * the same in any two runs: tests/verify.rs steps through it beside a recording. PART says what it
 * does, INPUT with what. */
typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned char u8;

#ifndef PART
#define PART 1
#endif
#ifndef INPUT
#define INPUT 1
#endif
#define N 64

static u64 seed = INPUT, words[N], sums[8];
static u8 text[2 * N + 1], copy[2 * N + 1];
static double a[N], b[N], c[N];
static long double wide[8];
u64 own_stack[512] __attribute__((aligned(64)));

/* What compilers make of loops. */
__attribute__((optimize("no-tree-loop-distribute-patterns"))) void *
memcpy(void *to, const void *from, u64 n)
{
    for (u64 i = 0; i < n; i++)
        ((u8 *)to)[i] = ((const u8 *)from)[i];
    return to;
}

__attribute__((optimize("no-tree-loop-distribute-patterns"))) void *
memset(void *to, int value, u64 n)
{
    for (u64 i = 0; i < n; i++)
        ((u8 *)to)[i] = (u8)value;
    return to;
}

static u64
next(void)
{
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return seed >> 33;
}

static long
call(long number, long x, long y, long z)
{
    __asm__ volatile("syscall" : "+a"(number) : "D"(x), "S"(y), "d"(z) : "rcx", "r11", "memory");
    return number;
}

/* Calls, jumps by tables, strings, numbers longer than a register. */
static u64 twice(u64 x) { return 2 * x; }
static u64 square(u64 x) { return x * x; }
static u64 turned(u64 x) { return x << 7 | x >> 57; }
static u64 (*volatile const steps[])(u64) = { twice, square, turned };

static void
sort(u64 *from, u64 *to)
{
    if (to - from < 2)
        return;
    u64 *low = from, pivot = *from;
    for (u64 *i = from + 1; i < to; i++) {
        if (*i < pivot) {
            u64 t = *++low;
            *low = *i;
            *i = t;
        }
    }
    *from = *low;
    *low = pivot;
    sort(from, low);
    sort(low + 1, to);
}

static void
integers(void)
{
    for (int i = 0; i < N; i++)
        words[i] = steps[next() % 3](next());
    sort(words, words + N);
    for (int i = 0; i < N; i++) {
        switch (words[i] % 7) {
        case 0: sums[0] += words[i]; break;
        case 1: sums[1] ^= words[i]; break;
        case 2: sums[2] -= words[i] / (i + 1ul); break;
        case 3: sums[3] += (u64)((unsigned __int128)words[i] * words[N - 1 - i] >> 64); break;
        case 4: sums[4] += (u64)__builtin_ctzl(words[i] | 1); break;
        case 5: sums[5] = sums[5] >> (words[i] & 31) ^ words[i]; break;
        default: sums[6]++;
        }
    }
}

static void
strings(void)
{
    for (int i = 0; i < 2 * N; i++)
        text[i] = (u8)('a' + next() % 26);
    for (int i = 0; i < 8; i++) {
        void *to = copy, *from = text;
        u64 n = next() % N;
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
        to = copy, from = text, n = 2 * N;
        __asm__ volatile("repe cmpsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory", "cc");
        sums[i] += n;
        to = text, n = 2 * N;
        __asm__ volatile("repne scasb" : "+D"(to), "+c"(n) : "a"('a' + i) : "cc");
        sums[i] ^= n;
        to = words + i, n = 4;
        __asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(sums[i]) : "memory");
        /* What it says is of no use to anybody: it only goes to the kernel and back. */
        sums[7] += (u64)call(1, -1, (long)text, i);
    }
}

static void
numbers(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = (double)(next() % 1000) / 7;
        b[i] = (double)(next() % 1000) - 500;
    }
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < N; i++)
            c[i] = a[i] * b[N - 1 - i] + c[i] / 3;
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += c[i] < 0 ? -c[i] : c[i];
        wide[round] = (long double)sum / 3;
        __asm__("fsqrt" : "+t"(wide[round]));
        wide[round] += __builtin_fabsl(wide[(round + 5) % 8]);
        for (int i = 1; i < N; i++)
            a[i] += a[i - 1] / (double)(i + round);
    }
    for (int i = 0; i < 8; i++)
        sums[i] = (u64)wide[i];
}

__attribute__((noinline)) void
verified(void)
{
    for (int round = 0; round < 3; round++) {
        if (PART == 1)
            integers();
        else if (PART == 2)
            strings();
        else
            numbers();
    }
}

__attribute__((noinline)) void
finished(void)
{
    /* What has been computed. */
    for (int i = 0; i < 8; i++) {
        static char line[17];
        for (int j = 0; j < 16; j++)
            line[j] = "0123456789abcdef"[sums[i] >> (60 - 4 * j) & 15];
        line[16] = '\n';
        call(1, 1, (long)line, 17);
    }
    call(60, 0, 0, 0);
}

/* Nothing of what the kernel and the recorder have left in registers. */
__attribute__((naked)) void
_start(void)
{
    __asm__ volatile("lea own_stack+4096(%rip), %rsp\n"
                     "vzeroall; fninit; cld\n"
                     "xor %ebx, %ebx; xor %ecx, %ecx; xor %edx, %edx; xor %esi, %esi; xor %edi, %edi\n"
                     "xor %ebp, %ebp; xor %r8d, %r8d; xor %r9d, %r9d; xor %r10d, %r10d\n"
                     "xor %r11d, %r11d; xor %r12d, %r12d; xor %r13d, %r13d; xor %r14d, %r14d\n"
                     "xor %r15d, %r15d; xor %eax, %eax\n"
                     "call verified; call finished; hlt");
}
