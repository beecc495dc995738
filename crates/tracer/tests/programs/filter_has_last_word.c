/* Forbids itself calls that the recorder answers itself or looks at, and makes them: the filter has the last word. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSED(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV)

static void
make(const char *name, long number, long first, long second, long third)
{
    long result = syscall(number, first, second, third, 0, 0);
    printf("%s: %ld %d\n", name, result, result == -1 ? errno : 0);
    fflush(stdout);
}

int
main(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSED(SYS_personality),
        REFUSED(SYS_readlink),
        REFUSED(SYS_open),
        REFUSED(SYS_execve),
        REFUSED(SYS_arch_prctl),
        REFUSED(SYS_prctl),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };
    char *arguments[] = { "true", NULL };
    char link[64], byte[1];
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        return 1;
    make("personality", SYS_personality, ADDR_NO_RANDOMIZE, 0, 0);
    make("readlink", SYS_readlink, (long)"/proc/self/exe", (long)link, sizeof(link));
    make("open", SYS_open, (long)"/proc/self/maps", O_RDONLY, 0);
    make("open for writing", SYS_open, (long)"/proc/self/exe", O_WRONLY, 0);
    make("execve", SYS_execve, (long)"/bin/true", (long)arguments, 0);
    make("base of GS", SYS_arch_prctl, ARCH_SET_GS, (long)byte, 0);
    make("same base", SYS_arch_prctl, ARCH_SET_GS, 0, 0);
    make("time stamp", SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0);
    return 0;
}
