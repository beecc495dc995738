/* What close_range returns, and what becomes of a descriptor in the range, where the kernel refuses it as well. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int
main(void)
{
    static const unsigned long calls[][3] = {
        { 3, ~0u, ~0u },    { 3, ~0u, 1 },  { ~0u, ~0u, 0 },        { 5, 3, 0 },      { ~0u, 3, 0 },   { 3, 100, 0 },
        { 3, 100, 4 },      { 3, ~0u, 4 },  { 3, ~0u, 2 },          { 100, ~0u, 0 },  { 3, 3, 0 },     { 0x100000003, 0x100000003, 0 },
        { 3, ~0ul, 0 },     { 3, ~0u, 6 },  { 3, ~0u, 0x100000004 }, { 3, 0x7fffffff, 0 },
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        int descriptor = dup(STDIN_FILENO);
        errno = 0;
        long returned = syscall(SYS_close_range, calls[i][0], calls[i][1], calls[i][2]);
        printf("%zu: %ld, %d, %d\n", i, returned, returned < 0 ? errno : 0, fcntl(descriptor, F_GETFD));
        close(descriptor);
    }
    return 0;
}
