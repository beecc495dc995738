/* What the instruction for system calls leaves in rcx: the address behind it. */
#include <stdio.h>
#include <sys/syscall.h>

int
main(void)
{
    unsigned long behind, rcx, rax = SYS_getppid;
    __asm__ volatile("lea 1f(%%rip), %1\n\tsyscall\n1:" : "+a"(rax), "=&r"(behind), "=c"(rcx) : : "r11", "memory");
    puts(rcx == behind ? "behind it" : "elsewhere");
    return 0;
}
