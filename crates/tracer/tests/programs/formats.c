/* Executes a file of a format that it tells the kernel of, where a user may (since Linux 6.7, in a namespace of one's own). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int
write_file(const char *path, int flags, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC | flags, 0755);
    int failed = write(file, text, strlen(text)) < 0;
    close(file);
    return failed;
}

int
main(int argc, char **argv)
{
    char program[4096], rule[5000], user[64], group[64], made[] = "/tmp/formats_XXXXXX";
    if (argc > 1) {
        /* The interpreter of such a file. */
        int others = 0;
        for (char **e = environ; *e != NULL; e++)
            others += strncmp(*e, "DYNAMORIO", 9) == 0;
        printf("interprets %s with %d variables of others\n", argv[argc - 1], others);
        return 0;
    }
    ssize_t got = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[got] = '\0';
    snprintf(user, sizeof(user), "0 %d 1", getuid());
    snprintf(group, sizeof(group), "0 %d 1", getgid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || write_file("/proc/self/uid_map", 0, user) ||
        write_file("/proc/self/setgroups", 0, "deny") || write_file("/proc/self/gid_map", 0, group) ||
        mount("binfmt_misc", "/proc/sys/fs/binfmt_misc", "binfmt_misc", 0, NULL) != 0) {
        puts("no formats of one's own here");
        return 0;
    }
    snprintf(rule, sizeof(rule), ":prestore:M::PRESTORE-TEST::%s:", program);
    if (write_file("/proc/sys/fs/binfmt_misc/register", 0, rule) || mkdtemp(made) == NULL || chdir(made) != 0)
        return 1;
    write_file("data", O_CREAT, "PRESTORE-TEST\n");
    write_file("script", O_CREAT, "exit 7\n");
    const char *files[] = { "./data", "./script" };
    for (int i = 0; i < 2; i++) {
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            execl(files[i], files[i], "last", (char *)0);
            perror(files[i]);
            _exit(9);
        }
        waitpid(child, &status, 0);
        printf("%s: %x\n", files[i], status);
        unlink(files[i]);
    }
    rmdir(made);
    return 0;
}
