/* What /proc says that this process executes, asked for in many ways; and made a file elsewhere, as container runtimes do. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct stat program;

static int
is_program(int file)
{
    struct stat at;
    int same = file >= 0 && fstat(file, &at) == 0 && at.st_ino == program.st_ino && at.st_size == program.st_size;
    if (file >= 0)
        close(file);
    return same;
}

static void
ask(int dir, const char *path)
{
    char target[4096];
    struct stat at = { 0 };
    struct open_how how = { .flags = O_RDONLY }, never = { .flags = O_RDONLY, .resolve = RESOLVE_NO_MAGICLINKS };
    fstatat(dir, path, &at, 0);
    printf("%d", at.st_ino == program.st_ino);
    printf("%d", is_program(openat(dir, path, O_RDONLY)));
    printf("%d", is_program(openat(dir, path, O_PATH)));
    printf("%d", is_program((int)syscall(SYS_openat2, dir, path, &how, sizeof(how))));
    printf("%d", syscall(SYS_openat2, dir, path, &never, sizeof(never)) < 0);
    long length = readlinkat(dir, path, target, sizeof(target));
    printf(" %.*s\n", length < 0 ? 0 : (int)length, target);
}

/* The first line of a file. */
static void
read_line(int dir, const char *path)
{
    char text[64] = "";
    int file = openat(dir, path, O_RDONLY);
    long got = read(file, text, sizeof(text) - 1);
    printf("%s: %s\n", path, got > 0 ? strtok(text, "\n\t=") : "");
    close(file);
}

static void
link_elsewhere(const char *place)
{
    printf("linked: %d", linkat(AT_FDCWD, "/proc/self/exe", AT_FDCWD, place, AT_SYMLINK_FOLLOW));
    printf(" %d\n", is_program(open(place, O_RDONLY)));
    unlink(place);
}

/* In namespaces of its own: it may mount there. */
static void
mount_elsewhere(const char *name, const char *place)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (mount("/proc/self/exe", place, NULL, MS_BIND, NULL) != 0)
            _exit(2);
        execl(place, name, "again", NULL);
        _exit(3);
    }
    waitpid(child, &status, 0);
    printf("mounted: %x\n", status);
    printf("a tree: %d\n", is_program((int)syscall(SYS_open_tree, AT_FDCWD, "/proc/self/exe", 1 /* OPEN_TREE_CLONE */)));
}

static void
refused(const char *what, long result)
{
    printf("%s: %d, %s\n", what, result < 0 ? -1 : 0, result < 0 ? strerror(errno) : "");
}

/* What the kernel refuses is refused, and nothing happens to the program. */
static void
ask_for_what_is_refused(void)
{
    char target[16];
    struct stat at;
    struct open_how unknown = { .flags = 1UL << 40 }, truncates = { .flags = O_TRUNC };
    char *end = (char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 4096;
    munmap(end, 4096);
    memcpy(end - 14, "/proc/self/exe", 14); /* without its end */
    refused("no end", open(end - 14, O_RDONLY));
    refused("no end", syscall(SYS_readlink, end - 14, target, sizeof(target)));
    refused("another's task", open("/proc/self/task/99999999/exe", O_RDONLY));
    refused("another's task", stat("/proc/self/task/99999999/exe", &at));
    refused("no room", syscall(SYS_readlink, "/proc/self/exe", target, 0));
    refused("negative room", syscall(SYS_readlink, "/proc/self/exe", target, -1L));
    refused("unknown flag", syscall(SYS_openat2, AT_FDCWD, "/proc/self/exe", &unknown, sizeof(unknown)));
    refused("exclusive", open("/proc/self/exe", O_RDONLY | O_CREAT | O_EXCL, 0600));
    printf("created: %d\n", is_program(open("/proc/self/exe", O_RDONLY | O_CREAT, 0600)));
    refused("truncated", open("/proc/self/exe", O_RDONLY | O_TRUNC));
    refused("truncated", syscall(SYS_openat2, AT_FDCWD, "/proc/self/exe", &truncates, sizeof(truncates)));
    printf("%d\n", stat("/proc/self/exe", &at) == 0 && at.st_size == program.st_size);
}

int
main(int argc, char **argv)
{
    char path[64];
    if (argc > 1 && strcmp(argv[1], "again") == 0)
        return 7;
    if (argc > 1) {
        stat(argv[0], &program);
        mount_elsewhere(argv[0], argv[1]);
        return 0;
    }
    stat("/proc/self/exe", &program);
    printf("%d\n", stat(argv[0], &program));
    snprintf(path, sizeof(path), "/proc/%d/task/%d", getpid(), getpid());
    const char *folders[] = { "/proc/self", "/proc/thread-self", path, "//proc/./self", "/proc/self/root/proc/self" };
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        char link[128];
        snprintf(link, sizeof(link), "%s/exe", folders[i]);
        ask(AT_FDCWD, link);
        int dir = open(folders[i], O_RDONLY | O_DIRECTORY);
        ask(dir, "exe");
        read_line(dir, "status");
        printf("%d\n", chdir(folders[i]));
        ask(AT_FDCWD, "exe");
        read_line(AT_FDCWD, "environ");
        printf("%d\n", chdir("/"));
        close(dir);
    }
    ask_for_what_is_refused();
    char place[] = "/tmp/own-link-XXXXXX";
    close(mkstemp(place));
    unlink(place);
    link_elsewhere(place);
    close(creat(place, 0700));
    fflush(stdout);
    /* What it executes next is followed where this mount namespace has it. */
    int status;
    pid_t child = fork();
    if (child == 0) {
        int user = (int)getuid();
        int map = unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? open("/proc/self/uid_map", O_WRONLY) : -1;
        /* Else it would have no rights there. */
        if (dprintf(map, "0 %d 1", user) > 0)
            execl(argv[0], argv[0], place, NULL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    unlink(place);
    return status != 0;
}
