/* Counters of processors, added to by threads in restartable sequences. The sequence looks at the thread's processor by FS, to which
 * it branches within itself, as allocators with memory for each processor do. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/rseq.h>

enum { THREADS = 4, TIMES = 20000, PROCESSORS = 4096 };
static struct {
    long count;
} __attribute__((aligned(64))) counters[PROCESSORS];

static long aborted;

static int
processor(void)
{
    return *(volatile int *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

/* Begins with a loop of so many rounds. */
static int
add(int cpu, int rounds)
{
    long *count = &counters[cpu].count;
    __asm__ goto(".pushsection __rseq_cs, \"aw\"\n\t"
                 ".balign 32\n"
                 "1:\t.long 0, 0\n\t"
                 ".quad 2f, 5f - 2f, 6f\n\t"
                 ".popsection\n\t"
                 "lea 1b(%%rip), %%rax\n\t"
                 "mov %%rax, %%fs:8(%[area])\n"
                 "2:\tmov %[rounds], %%ecx\n\t"
                 "test %%ecx, %%ecx\n\t"
                 "jz 4f\n"
                 "3:\tdec %%ecx\n\t"
                 "jnz 3b\n"
                 "4:\tcmp %[cpu], %%fs:4(%[area])\n\t"
                 "jne %l[another]\n\t"
                 "addq $1, (%[count])\n"
                 "5:\n\t"
                 ".pushsection .text.unlikely\n\t"
                 ".byte 0x0f, 0xb9, 0x3d\n\t"
                 ".long %c[signature]\n"
                 "6:\tjmp %l[another]\n\t"
                 ".popsection"
                 :
                 : [area] "r"((long)__rseq_offset), [rounds] "r"(rounds), [cpu] "r"(cpu), [count] "r"(count),
                   [signature] "i"(RSEQ_SIG)
                 : "memory", "cc", "rax", "rcx"
                 : another);
    return 1;
another:
    __atomic_add_fetch(&aborted, 1, __ATOMIC_RELAXED);
    return 0;
}

static void *
work(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        while (!add(processor(), i % 4)) {
        }
    }
    return unused;
}

int
main(void)
{
    pthread_t threads[THREADS];
    long sum = 0;
    if (__rseq_size == 0) {
        puts("no sequences");
        return 0;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PROCESSORS; i++)
        sum += counters[i].count;
    printf("%ld, aborted more than that: %d\n", sum, aborted > sum);
    return 0;
}
