/* Hardware transactions as programs use them: with a way out, which is always taken in the end. */
#include <cpuid.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int taken;
static long counter, rolled_back = 5;

static unsigned
begin(void)
{
    unsigned status = ~0u;
    __asm__ volatile("xbegin 1f\n1:" : "+a"(status) : : "memory");
    return status;
}

static void
lock(void)
{
    while (__sync_lock_test_and_set(&taken, 1))
        usleep(1);
}

static void *
add(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2000; i++) {
        int done = 0;
        for (int attempt = 0; attempt < 3 && !done; attempt++) {
            if (begin() != ~0u)
                continue;
            if (taken)
                __asm__ volatile("xabort $1" : : : "memory");
            counter++;
            __asm__ volatile("xend" : : : "memory");
            done = 1;
        }
        if (!done) {
            lock();
            counter++;
            __sync_lock_release(&taken);
        }
    }
    return NULL;
}

/* The way out is elsewhere; the flags and registers are those from before. */
static int
elsewhere(void)
{
    long kept = 0;
    unsigned char carry = 0;
    __asm__ volatile("mov $77, %%ecx\n\t"
                     "stc\n\t"
                     "xbegin 2f\n\t"
                     "mov $1, %%ecx\n\t"
                     "movq $6, %[memory]\n\t"
                     "clc\n\t"
                     "xabort $3\n"
                     "1:\n\t"
                     "mov $2, %%ecx\n\t"
                     "jmp 3f\n"
                     "2:\n\t"
                     "setc %[carry]\n\t"
                     "xtest\n\t"
                     "jnz 1b\n"
                     "3:"
                     : [carry] "+r"(carry), [memory] "+m"(rolled_back), "+c"(kept)
                     :
                     : "rax", "cc", "memory");
    return (int)kept + carry;
}

/* What the kernel does cannot be taken back. */
static int
calls(void)
{
    int got = 0;
    if (begin() == ~0u) {
        got = getpid();
        __asm__ volatile("xend" : : : "memory");
    }
    return got;
}

int
main(void)
{
    unsigned a, b = 0, c, d;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    if (!(b & 1 << 11)) {
        puts("no transactions");
        return 0;
    }
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", counter);
    for (int i = 0; i < 200; i++) {
        if (elsewhere() != 78 || rolled_back != 5)
            return 1;
    }
    printf("%d\n", calls());
    return 0;
}
