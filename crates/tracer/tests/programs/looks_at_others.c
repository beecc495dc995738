/* What /proc says that another process executes, which was started by an absolute path and by a relative one. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void
look(const char *as, char *const arguments[])
{
    char link[64], target[4096] = "", byte;
    int ready[2], status;
    struct stat own, about = { 0 }, opened = { 0 };
    pipe(ready);
    pid_t child = fork();
    if (child == 0) {
        dup2(ready[1], STDOUT_FILENO);
        execv(as, arguments);
        _exit(1);
    }
    close(ready[1]);
    read(ready[0], &byte, 1);
    sprintf(link, "/proc/%d/exe", child);
    stat(arguments[0], &own);
    printf("%d", stat(link, &about) == 0 && about.st_ino == own.st_ino && about.st_size == own.st_size);
    int file = open(link, O_RDONLY);
    printf("%d", fstat(file, &opened) == 0 && opened.st_ino == own.st_ino);
    close(file);
    file = open(link, O_PATH);
    printf("%d", fstat(file, &opened) == 0 && opened.st_ino == own.st_ino);
    close(file);
    ssize_t got = readlink(link, target, sizeof(target) - 1);
    printf(" %s\n", got > 0 ? strrchr(target, '/') : "none");
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    close(ready[0]);
}

int
main(int argc, char **argv)
{
    if (argc > 1) {
        write(STDOUT_FILENO, "r", 1);
        for (;;)
            pause();
    }
    setvbuf(stdout, NULL, _IONBF, 0);
    char program[4096], *arguments[] = { program, "waits", NULL };
    ssize_t got = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[got] = '\0';
    look(program, arguments);
    char *slash = strrchr(program, '/');
    *slash = '\0';
    chdir(program);
    *slash = '/';
    char relative[256];
    snprintf(relative, sizeof(relative), "./%s", slash + 1);
    look(relative, arguments);
    return 0;
}
