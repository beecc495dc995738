/* Asks whether it runs under Valgrind, in the way that Valgrind documents: instructions that do nothing elsewhere. */
#include <stdio.h>

enum { RUNNING_ON_VALGRIND = 0x1001 };

int
main(void)
{
    volatile unsigned long request[6] = { RUNNING_ON_VALGRIND };
    unsigned long answer = 0;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "=d"(answer)
                     : "a"(&request[0]), "0"(answer)
                     : "cc", "memory");
    printf("%lu\n", answer);
    return 0;
}
