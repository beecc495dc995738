/* What the kernel refuses to execute, though it can be read: a program and a script that nobody may execute, scripts and programs
 * whose interpreter is such a one or is not there, a damaged table of segments, and all that lies where nothing may be
 * executed. The argument is a folder for them. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char image[1 << 20];
static size_t size;

static void
make(const char *name, const void *bytes, size_t length, mode_t mode)
{
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, bytes, length) != (ssize_t)length || fchmod(file, mode) != 0 || close(file) != 0)
        exit(9);
}

static void
script(const char *name, const char *first_line, mode_t mode)
{
    make(name, first_line, strlen(first_line), mode);
}

/* By a child, in each way. */
static void
try(const char *name)
{
    char *arguments[] = { "called", "executed", NULL };
    for (volatile int way = 0; way < 3; way++) {
        int status;
        pid_t child = way == 2 ? vfork() : fork();
        if (child == 0) {
            if (way == 1)
                syscall(SYS_execveat, AT_FDCWD, name, arguments, environ, 0);
            else
                execve(name, arguments, environ);
            _exit(errno);
        }
        waitpid(child, &status, 0);
        printf("%s: %x\n", name, status);
        fflush(stdout);
    }
}

static Elf64_Phdr *
loader(void)
{
    Elf64_Ehdr *head = (Elf64_Ehdr *)image;
    Elf64_Phdr *segment = (Elf64_Phdr *)(image + head->e_phoff);
    while (segment->p_type != PT_INTERP)
        segment++;
    return segment;
}

int
main(int argc, char **argv)
{
    if (strcmp(argv[argc - 1], "executed") == 0) {
        printf("executed\n");
        return 0;
    }
    size = (size_t)read(open(argv[0], O_RDONLY | O_CLOEXEC), image, sizeof(image));
    if (argc != 2 || chdir(argv[1]) != 0)
        return 9;
    make("program", image, size, 0755);
    make("nobody's program", image, size, 0644);
    make("nobody's", image, size, 0644);
    script("script", "#!/bin/echo of\n", 0755);
    script("nobody's script", "#!/bin/echo of\n", 0644);
    script("script of nobody's", "#! nobody's\n", 0755);
    script("inner", "#!\t./nobody's with more\n", 0755);
    script("script of a script of nobody's", "#!inner\n", 0755);
    script("script of the program", "#!program \n", 0755);
    script("script of nothing", "#!/nowhere/to/be/found\n", 0755);
    script("script of a folder", "#!/\n", 0755);
    try("program");
    try("nobody's program");
    try("script");
    try("nobody's script");
    try("script of nobody's");
    try("script of a script of nobody's");
    try("script of the program");
    try("script of nothing");
    try("script of a folder");

    char *name = image + loader()->p_offset;
    size_t length = loader()->p_filesz;
    name[length - 2] ^= 1;
    make("without a loader", image, size, 0755);
    name[length - 2] ^= 1;
    name[length - 1] = 'x';
    make("whose loader has no end", image, size, 0755);
    name[length - 1] = '\0';
    loader()->p_filesz = 1;
    make("whose loader has no name", image, size, 0755);
    loader()->p_filesz = length;
    strcpy(name, "nobody's");
    make("of nobody's loader", image, size, 0755);
    ((Elf64_Ehdr *)image)->e_phentsize++;
    make("with other segments", image, size, 0755);
    ((Elf64_Ehdr *)image)->e_phentsize--;
    ((Elf64_Ehdr *)image)->e_phnum = 0;
    make("without segments", image, size, 0755);
    try("without a loader");
    try("whose loader has no end");
    try("whose loader has no name");
    try("of nobody's loader");
    try("with other segments");
    try("without segments");

    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return 77;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 || mount(".", ".", NULL, MS_BIND, NULL) != 0 ||
        mount(NULL, argv[1], NULL, MS_BIND | MS_REMOUNT | MS_NOEXEC, NULL) != 0 || chdir(argv[1]) != 0)
        return 77;
    try("program");
    try("script");
    try("script of the program");
    return 0;
}
