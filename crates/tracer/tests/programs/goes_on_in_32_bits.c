/* Goes on in 32-bit code, in each way in which 64-bit code can, or ("stays") by far returns in 64-bit code alone. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* mov $42, %eax; inc %eax; lret: the second is a prefix in 64-bit code. */
static const unsigned char code[] = { 0xb8, 42, 0, 0, 0, 0x40, 0xcb };

/* On a stack of its own, whose address 32-bit code can have: the far pointer, and how to come back from `code`. */
__asm__(".text\n"
        "by_call: mov %rsp, %rcx\n"
        "  mov %rsi, %rsp\n"
        "  lcall *(%rdi)\n"
        "  mov %rcx, %rsp\n"
        "  ret\n"
        "by_jump: mov %rsp, %rcx\n"
        "  mov %rsi, %rsp\n"
        "  movl $0x33, 4(%rsp)\n"
        "  movl $0f, (%rsp)\n"
        "  ljmp *(%rdi)\n"
        "0: mov %rcx, %rsp\n"
        "  ret\n"
        "by_return: mov %rsp, %rcx\n"
        "  mov %rsi, %rsp\n"
        "  movl $0x33, 4(%rsp)\n"
        "  movl $0f, (%rsp)\n"
        "  mov (%rdi), %eax\n"
        "  mov 4(%rdi), %edx\n"
        "  sub $8, %rsp\n"
        "  mov %eax, (%rsp)\n"
        "  mov %edx, 4(%rsp)\n"
        "  lretl\n"
        "0: mov %rcx, %rsp\n"
        "  ret\n"
        "by_iret: mov %rsp, %rcx\n"
        "  mov %rsi, %rsp\n"
        "  movl $0x33, 4(%rsp)\n"
        "  movl $0f, (%rsp)\n"
        "  mov (%rdi), %eax\n"
        "  mov 4(%rdi), %edx\n"
        "  mov %ss, %r8d\n"
        "  push %r8\n"
        "  push %rsi\n"
        "  pushf\n"
        "  push %rdx\n"
        "  push %rax\n"
        "  iretq\n"
        "0: mov %rcx, %rsp\n"
        "  ret\n"
        "by_return_64: mov %cs, %ecx\n"
        "  lea 0f(%rip), %rax\n"
        "  push %rcx\n"
        "  push %rax\n"
        "  lretq\n"
        "0: mov $64, %eax\n"
        "  ret\n");

typedef int way(void *far, void *stack);
extern way by_call, by_jump, by_return, by_iret, by_return_64;

int main(int count, char **args)
{
    const struct {
        const char *name;
        way *way;
    } ways[] = { { "call", by_call }, { "jump", by_jump }, { "return", by_return }, { "iret", by_iret }, { "stays", by_return_64 } };
    unsigned char *low = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (low == MAP_FAILED || count < 2)
        return 1;
    memcpy(low, code, sizeof(code));
    struct __attribute__((packed)) {
        unsigned int offset, selector;
    } far = { (unsigned int)(unsigned long)low, 0x23 };
    puts("before");
    fflush(stdout);
    for (int i = 0; i < 5; i++) {
        if (strcmp(args[1], ways[i].name) == 0)
            printf("behind: %d\n", ways[i].way(&far, low + 8000));
    }
    return 0;
}
