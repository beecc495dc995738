// clone3 with sizes that the kernel refuses, or takes although it does not know all of them.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

int main(void)
{
    static unsigned long args[512]; // a page; [4] is the signal that tells of the child's end
    static const unsigned long sizes[] = { 0, 8, 63, 64, 88, 4096, 4097, 65536, 1UL << 31, 0xffffffff, (1UL << 32) + 64, -1UL };
    args[4] = SIGCHLD;
    setvbuf(stdout, NULL, _IONBF, 0);
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        long child = syscall(SYS_clone3, args, sizes[i]);
        if (child == 0)
            _exit(7);
        int status = 0;
        if (child > 0)
            waitpid((pid_t)child, &status, 0);
        printf("%lx: %s, %x\n", sizes[i], child > 0 ? "made" : strerror(errno), (unsigned)status);
    }
    return 0;
}
