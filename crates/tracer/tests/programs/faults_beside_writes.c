/* Code that faults again and again in memory to which another thread writes beside it: the handler is to be told where. Each round has memory of its
 * own, as what is written to often is treated otherwise from then on. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define ROUNDS 150
#define FAULTS 300
#define WRITES 40

/* mov $VALUE, %eax; cmp %rax, (%rsi); mov %rsi, %rdi; add $1, %eax; ret */
static const unsigned char code[] = { 0xb8, 0x07, 0x00, 0x00, 0x00, 0x48, 0x3b, 0x06, 0x48, 0x89, 0xf7, 0x83, 0xc0, 0x01, 0xc3 };
#define FAULTS_AT 5
#define GOES_ON_AT 8

static unsigned char *volatile memory;
static atomic_int round_begun, round_done;

static void
on_fault(int sig, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    unsigned char *at = (unsigned char *)registers[REG_RIP];
    if (at != memory + FAULTS_AT || info->si_addr != NULL || registers[REG_RAX] != 7 || registers[REG_RCX] != 11) {
        static const char said[] = "told of another place\n";
        fwrite(said, 1, sizeof(said) - 1, stderr);
        _exit(1);
    }
    registers[REG_RIP] = (greg_t)(memory + GOES_ON_AT);
}

static void *
write_beside(void *unused)
{
    for (int round = 1; round <= ROUNDS; round++) {
        while (atomic_load(&round_begun) < round)
            sched_yield();
        for (int i = 0; i < WRITES; i++) {
            for (volatile int pause = 0; pause < 2000; pause++) {
            }
            memory[2048 + i] = (unsigned char)i;
        }
        atomic_store(&round_done, round);
    }
    return unused;
}

int
main(void)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
    pthread_t thread;
    long sum = 0;
    sigaction(SIGSEGV, &action, NULL);
    if (pthread_create(&thread, NULL, write_beside, NULL) != 0)
        return 2;
    for (int round = 1; round <= ROUNDS; round++) {
        memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return 2;
        memcpy(memory, code, sizeof(code));
        atomic_store(&round_begun, round);
        for (int i = 0; i < FAULTS; i++) {
            long result;
            __asm__ volatile("call *%1"
                             : "=a"(result)
                             : "r"(memory), "S"(NULL), "c"(11L)
                             : "rdi", "memory", "cc");
            sum += result;
        }
        while (atomic_load(&round_done) < round)
            sched_yield();
    }
    pthread_join(thread, NULL);
    printf("%ld\n", sum);
    return sum == 8L * ROUNDS * FAULTS ? 0 : 1;
}
