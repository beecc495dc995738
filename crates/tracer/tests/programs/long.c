/* Always the same instructions, with no library and nothing of the system's: seven a round, of which one stores. */
static volatile unsigned long words[4096];

enum { ROUNDS = 2000000 };

__attribute__((naked, noreturn)) void
_start(void)
{
    __asm__ volatile("lea %0, %%rdi\n"
                     "mov %1, %%ecx\n"
                     "1: mov %%ecx, %%eax\n"
                     "and $4095, %%eax\n"
                     "test $1, %%al\n"
                     "jz 2f\n"
                     "2: mov %%rcx, (%%rdi,%%rax,8)\n"
                     "dec %%ecx\n"
                     "jnz 1b\n"
                     "mov $231, %%eax\n"
                     "xor %%edi, %%edi\n"
                     "syscall\n"
                     "ud2\n"
                     :
                     : "m"(words), "i"(ROUNDS));
}
