/* Executes itself through descriptors: "relative" to a folder, "open": by the file's own, "memory": a copy that has no path,
 * "missing": a file that is not there. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

static volatile unsigned long work[1000];

int
main(int argc, char **argv)
{
    char *next[] = { argv[0], "last", NULL };
    const char *way = argv[argc - 1];
    long result = 0;
    for (int i = 0; i < 1000; i++)
        work[i] = (unsigned long)i;
    printf("%s\n", way);
    fflush(stdout);
    if (strcmp(way, "relative") == 0) {
        char *slash = strrchr(argv[0], '/');
        char *folder = strndup(argv[0], (size_t)(slash - argv[0]));
        result = syscall(SYS_execveat, open(folder, O_RDONLY | O_CLOEXEC), slash + 1, next, environ, 0);
    } else if (strcmp(way, "open") == 0) {
        result = syscall(SYS_execveat, open(argv[0], O_RDONLY | O_CLOEXEC), "", next, environ, AT_EMPTY_PATH);
    } else if (strcmp(way, "memory") == 0) {
        int copy = memfd_create("copy", MFD_CLOEXEC), file = open(argv[0], O_RDONLY | O_CLOEXEC);
        while (sendfile(copy, file, NULL, 1 << 20) > 0)
            ;
        result = syscall(SYS_execveat, copy, "", next, environ, AT_EMPTY_PATH);
    } else if (strcmp(way, "missing") == 0) {
        result = syscall(SYS_execveat, AT_FDCWD, "/nowhere/to/be/found", next, environ, 0);
    }
    printf("%ld %d\n", result, result == 0 ? 0 : errno);
    return 7;
}
