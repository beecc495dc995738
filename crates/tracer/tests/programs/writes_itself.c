/* Asks in every way to write to the file that it is executed from, and to a copy of it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/writes-itself-XXXXXX";

static void
say(const char *how, long result)
{
    int error = errno;
    printf("  %s: %s\n", how, result >= 0 ? "done" : strerror(error));
    if (result > 2)
        close((int)result);
}

static void
ask(const char *path)
{
    struct open_how how = { .flags = O_RDWR };
    struct stat before, after;
    stat(path, &before);
    say("read", open(path, O_RDONLY));
    say("write", open(path, O_WRONLY));
    say("both", open(path, O_RDWR | O_CLOEXEC));
    say("read and cut", open(path, O_RDONLY | O_TRUNC));
    say("append", open(path, O_WRONLY | O_APPEND | O_CREAT, 0600));
    say("new", open(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
    say("directory", open(path, O_WRONLY | O_DIRECTORY));
    say("place", open(path, O_PATH | O_RDWR));
    say("no link", open(path, O_WRONLY | O_NOFOLLOW));
    say("openat", syscall(SYS_openat, AT_FDCWD, path, O_WRONLY));
    say("openat2", syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how)));
    say("creat", syscall(SYS_creat, path, 0700));
    say("truncate", truncate(path, before.st_size));
    stat(path, &after);
    printf("  %s\n", after.st_size == before.st_size ? "whole" : "cut");
}

static void
ask_as_nobody(const char *path)
{
    if (fork() == 0) {
        if (setresuid(65534, 65534, 65534) == 0)
            say("nobody", open(path, O_WRONLY));
        exit(0);
    }
    wait(NULL);
}

int
main(int argc, char **argv)
{
    char link[64], copy[64], command[8192], program[4096] = "";
    setvbuf(stdout, NULL, _IONBF, 0);
    if (mkdtemp(directory) == NULL || chmod(directory, 0755) != 0)
        return 1;
    snprintf(link, sizeof(link), "%s/link", directory);
    snprintf(copy, sizeof(copy), "%s/copy", directory);
    if (readlink("/proc/self/exe", program, sizeof(program) - 1) <= 0)
        return 1;
    snprintf(command, sizeof(command), "cp %s %s", program, copy);
    if (system(command) != 0 || symlink(program, link) != 0)
        return 1;
    printf("itself\n");
    ask(program);
    ask_as_nobody(program);
    printf("by a link\n");
    ask(link);
    printf("by /proc\n");
    say("write", open("/proc/self/exe", O_WRONLY));
    printf("child\n");
    if (fork() == 0) {
        ask(program);
        _exit(0);
    }
    wait(NULL);
    printf("copy\n");
    ask(copy);
    unlink(copy);
    unlink(link);
    rmdir(directory);
    return 0;
}
