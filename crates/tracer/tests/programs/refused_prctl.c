/* Asks the kernel for what would also hold for the recorder: "tsc", "calls" or "code"; or asks whether it knows the last. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

int
main(int argc, char **argv)
{
    char selector = 0;
    if (argc == 2 && strcmp(argv[1], "asks") == 0) {
        puts(prctl(66 /* PR_GET_MDWE */, 0, 0, 0, 0) >= 0 ? "knows" : "does not");
        return 0;
    }
    puts("before");
    fflush(stdout);
    if (argc == 2 && strcmp(argv[1], "tsc") == 0)
        prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    else if (argc == 2 && strcmp(argv[1], "code") == 0)
        prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0);
    else if (argc == 2 && strcmp(argv[1], "calls") == 0)
        prctl(59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1, 0, 0, &selector);
    return 0;
}
