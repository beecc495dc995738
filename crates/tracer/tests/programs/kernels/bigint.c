/* Long multiplication and its check by remainders: with the compiler's 128-bit numbers, with mul and
 * one chain of carries, and with mulx and two chains where the processor has them. */
#include "threads.h"
#include <string.h>

enum { N = 48, ROUNDS = 60 };
typedef unsigned __int128 wide;

static uint64_t results[MAX_THREADS];
static int wrong[MAX_THREADS];

static void
by_compiler(const uint64_t *a, const uint64_t *b, uint64_t *to)
{
    memset(to, 0, 2 * N * 8);
    for (int i = 0; i < N; i++) {
        wide carry = 0;
        for (int j = 0; j < N; j++) {
            carry += (wide)a[i] * b[j] + to[i + j];
            to[i + j] = (uint64_t)carry;
            carry >>= 64;
        }
        to[i + N] = (uint64_t)carry;
    }
}

static void
by_mul(const uint64_t *a, const uint64_t *b, uint64_t *to)
{
    memset(to, 0, 2 * N * 8);
    for (int i = 0; i < N; i++) {
        uint64_t carry = 0, j = (uint64_t)-N;
        /* All but a few registers hold something, and rdx is written whole again and again. */
        __asm__ volatile("1:\n"
                         "mov (%[b],%[j],8), %%rax\n"
                         "mulq %[by]\n"
                         "add %[carry], %%rax\n"
                         "mov $0, %[carry]\n"
                         "adc %%rdx, %[carry]\n"
                         "add %%rax, (%[to],%[j],8)\n"
                         "adc $0, %[carry]\n"
                         "inc %[j]\n"
                         "jnz 1b\n"
                         : [j] "+r"(j), [carry] "+r"(carry)
                         : [b] "r"(b + N), [to] "r"(to + i + N), [by] "r"(a[i])
                         : "rax", "rdx", "cc", "memory");
        to[i + N] = carry;
    }
}

#if defined(__ADX__) && defined(__BMI2__)
static void
by_two_chains(const uint64_t *a, const uint64_t *b, uint64_t *to)
{
    memset(to, 0, 2 * N * 8);
    for (int i = 0; i < N; i++) {
        uint64_t j = (uint64_t)-N, high = 0;
        __asm__ volatile("xor %%eax, %%eax\n" /* both carries clear */
                         "1:\n"
                         "mulx (%[b],%[j],8), %%rax, %%rcx\n"
                         "adcx (%[to],%[j],8), %%rax\n"
                         "adox %[high], %%rax\n"
                         "mov %%rax, (%[to],%[j],8)\n"
                         "mov %%rcx, %[high]\n"
                         "lea 1(%[j]), %[j]\n"
                         "mov %[j], %%rcx\n"
                         "jrcxz 2f\n"
                         "jmp 1b\n"
                         "2:\n"
                         "mov $0, %%eax\n"
                         "adcx %%rax, %[high]\n"
                         "adox %%rax, %[high]\n"
                         : [j] "+r"(j), [high] "+r"(high)
                         : [b] "r"(b + N), [to] "r"(to + i + N), "d"(a[i])
                         : "rax", "rcx", "cc", "memory");
        to[i + N] = high;
    }
}
#else
#define by_two_chains by_mul
#endif

static uint64_t
remainder_of(const uint64_t *a, int n, uint64_t by)
{
    wide rest = 0;
    for (int i = n - 1; i >= 0; i--)
        rest = (rest << 64 | a[i]) % by;
    return (uint64_t)rest;
}

static void *
work(void *arg)
{
    int id = (int)(long)arg;
    uint64_t a[N], b[N], one[2 * N], two[2 * N], three[2 * N];
    const uint64_t prime = 0xffffffffffffffc5;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            a[i] = (uint64_t)(random_at((uint64_t)(i + round * N)) * 1.8e19);
            b[i] = ~(uint64_t)(random_at((uint64_t)(i + id)) * (round % 2 ? 5 : 1.8e19));
        }
        by_compiler(a, b, one);
        by_mul(a, b, two);
        by_two_chains(a, b, three);
        wide product = (wide)remainder_of(a, N, prime) * remainder_of(b, N, prime);
        wrong[id] += memcmp(one, two, sizeof(one)) != 0;
        wrong[id] += memcmp(one, three, sizeof(one)) != 0;
        wrong[id] += remainder_of(one, 2 * N, prime) != (uint64_t)(product % prime);
        for (int i = 0; i < 2 * N; i++)
            results[id] = results[id] * 31 + one[i];
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    int bad = 0;
    read_threads(argc, argv);
    run_on_all(work);
    for (int i = 0; i < n_threads; i++) {
        printf("%016llx\n", (unsigned long long)results[i]);
        bad += wrong[i];
    }
    return verdict("bigint", bad, 0);
}
