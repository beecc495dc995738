/* Executes the script given with an argument that is longer than the kernel takes: what the call leaves in the registers. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char argument[200000];

int
main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    memset(argument, 'a', sizeof(argument) - 1);
    char *arguments[] = { argv[1], argument, NULL }, *environment[] = { NULL };
    char *file = argv[1], **given = arguments, **with = environment;
    long result = SYS_execve;
    __asm__ volatile("syscall" : "+a"(result), "+D"(file), "+S"(given), "+d"(with) : : "rcx", "r11", "memory");
    printf("%ld: %d %d %d\n", result, file == argv[1], given == arguments, with == environment);
    return 0;
}
