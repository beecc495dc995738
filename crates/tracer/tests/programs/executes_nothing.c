/* What cannot be executed, as its path, its arguments or its environment cannot be read. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static char nowhere[] = "/nowhere";

static void
try(const char *name, const char *path, char *const *arguments, char *const *environment)
{
    errno = 0;
    printf("%s: %ld", name, syscall(SYS_execve, path, arguments, environment));
    printf(", %d;", errno);
    errno = 0;
    printf(" %ld", syscall(SYS_execveat, AT_FDCWD, path, arguments, environment, 0));
    printf(", %d\n", errno);
}

int
main(void)
{
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *none = (char *)0xdeadbeef000;
    char *good[] = { nowhere, NULL }, *bad[] = { nowhere, none, NULL };
    char *last = page + 4096 - 8;
    char **end = (char **)last;
    mprotect(page + 4096, 4096, PROT_NONE);
    memset(last, '/', 8);
    setvbuf(stdout, NULL, _IONBF, 0);
    try("no path", NULL, good, NULL);
    try("a path that is none", none, good, NULL);
    try("a path without an end", last, good, NULL);
    *end = nowhere;
    try("arguments without an end", "/bin/true", end, NULL);
    try("arguments that are none", "/bin/true", (char **)none, NULL);
    try("an argument that is none", "/bin/true", bad, NULL);
    try("an environment that is none", "/bin/true", good, (char **)none);
    try("a variable that is none", "/bin/true", good, bad);
    try("no file", nowhere, good, good);
    execl("/bin/echo", "echo", "executed", (char *)NULL);
    return 1;
}
