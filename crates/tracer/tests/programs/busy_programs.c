/* Executes files while they are open for writing, and when they no longer are. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BY_EXECVE, BY_PATH, BY_DESCRIPTOR, BY_VFORK, BY_SPAWN, WAYS };

static char *environment[] = { NULL };

static void
execute(int way, const char *file)
{
    char *arguments[] = { (char *)file, NULL };
    if (way == BY_PATH)
        syscall(SYS_execveat, AT_FDCWD, file, arguments, environment, 0);
    else if (way == BY_DESCRIPTOR)
        syscall(SYS_execveat, open(file, O_RDONLY), "", arguments, environment, AT_EMPTY_PATH);
    else
        execve(file, arguments, environment);
}

static void
in_child(int way, const char *file)
{
    int status = 0;
    volatile int error = 0;
    pid_t child;
    char *arguments[] = { (char *)file, NULL };
    if (way == BY_SPAWN) {
        error = posix_spawn(&child, file, NULL, NULL, arguments, environment);
        if (error != 0) {
            printf("  %d: %s\n", way, strerror(error));
            return;
        }
    } else if (way == BY_VFORK) {
        child = vfork();
        if (child == 0) {
            execute(way, file);
            error = errno;
            _exit(9);
        }
    } else {
        child = fork();
        if (child == 0) {
            execute(way, file);
            printf("  %d: %s\n", way, strerror(errno));
            _exit(9);
        }
    }
    waitpid(child, &status, 0);
    printf("  %d: status %x error %d\n", way, status, error);
}

int
main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    char directory[] = "/tmp/busy-programs-XXXXXX", file[64], command[512];
    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(file, sizeof(file), "%s/file", directory);
    static const char *const made[] = { "cp /bin/true %1$s", "printf '#!/bin/sh\\nexit 3\\n' >%1$s; chmod +x %1$s" };
    for (int kind = 0; kind < 2; kind++) {
        snprintf(command, sizeof(command), made[kind], file);
        if (system(command) != 0)
            return 1;
        int writer = open(file, O_WRONLY | O_CLOEXEC);
        printf("open\n");
        /* Older kernels look at the arguments first, and the recorder does not see what they would say. */
        execve(file, (char **)~4095ul, environment);
        printf("  %s\n", strerror(errno));
        for (int way = 0; way < WAYS && errno == ETXTBSY; way++) {
            in_child(way, file);
            errno = ETXTBSY;
        }
        close(writer);
        printf("closed\n");
        for (int way = 0; way < WAYS; way++)
            in_child(way, file);
        unlink(file);
    }
    rmdir(directory);
    return 0;
}
