/* Asks the kernel for what would also hold for the recorder: "tsc" or "calls". */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

int
main(int argc, char **argv)
{
    char selector = 0;
    puts("before");
    fflush(stdout);
    if (argc == 2 && strcmp(argv[1], "tsc") == 0)
        prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    else
        prctl(59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1, 0, 0, &selector);
    return 0;
}
