/* One block that addresses memory through all registers, so that none is free to record with, and
 * then saves processor state by what eax and edx ask for, with the flags alive. Prints where. */
#include <stdint.h>
#include <stdio.h>

static uint64_t words[16];
static uint8_t state[8192] __attribute__((aligned(64)));

int main(void)
{
    uint64_t *w = words;
    uint64_t odd;
    for (int i = 0; i < 3; i++) {
        __asm__ volatile(
            "push %%rbp\n"
            "mov %[w], %%rdi\n"
            "lea (%%rdi), %%rbx\n lea 8(%%rdi), %%rcx\n lea 16(%%rdi), %%rsi\n"
            "lea 24(%%rdi), %%r8\n lea 32(%%rdi), %%r9\n lea 40(%%rdi), %%r10\n"
            "lea 48(%%rdi), %%r11\n lea 56(%%rdi), %%r12\n lea 64(%%rdi), %%r13\n"
            "lea 72(%%rdi), %%r14\n lea 80(%%rdi), %%rbp\n"
            "lea state(%%rip), %%r15\n"
            "mov $3, %%eax\n xor %%edx, %%edx\n"
            "jmp 1f\n"
            "1:\n"
            "movq $1, (%%rbx)\n movq $2, (%%rcx)\n movq $3, (%%rsi)\n movq $4, (%%r8)\n"
            "movq $5, (%%r9)\n movq $6, (%%r10)\n movq $7, (%%r11)\n movq $8, (%%r12)\n"
            "movq $9, (%%r13)\n movq $10, (%%r14)\n movq $11, (%%rbp)\n movq $12, (%%rdi)\n"
            "xsave64 (%%r15)\n"
            "jmp 2f\n"
            "2:\n"
            "setz %%al\n movzbl %%al, %%eax\n"
            "pop %%rbp\n"
            : "=a"(odd)
            : [w] "D"(w)
            : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
              "cc", "memory");
    }
    printf("%p %lu\n", (void *)state, (unsigned long)odd);
    return 0;
}
