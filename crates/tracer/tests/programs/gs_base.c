/* Sets the base of its GS segment, as emulators and some runtimes do, and reads through it. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static long area[2] = { 0, 42 };

int
main(void)
{
    long value;
    puts("before");
    fflush(stdout);
    syscall(SYS_arch_prctl, ARCH_SET_GS, area);
    __asm__ volatile("mov %%gs:8, %0" : "=r"(value));
    printf("%ld\n", value);
    return 0;
}
