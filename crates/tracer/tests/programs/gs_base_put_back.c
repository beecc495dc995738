/* Asks for the base of its GS segment and sets it to that again, as is done for a thread whose state is saved; and tries
 * bases that no program can have. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static void
set(unsigned long base)
{
    long result = syscall(SYS_arch_prctl, ARCH_SET_GS, base);
    printf("%lx: %ld %d\n", base, result, result == 0 ? 0 : errno);
    fflush(stdout);
}

int
main(void)
{
    unsigned long base = 1;
    syscall(SYS_arch_prctl, ARCH_GET_GS, &base);
    set(base);
    set(1UL << 63);
    set(-4096UL);
    syscall(SYS_arch_prctl, ARCH_GET_GS, &base);
    printf("%lx\n", base);
    return 0;
}
