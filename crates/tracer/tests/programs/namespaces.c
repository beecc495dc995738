/* In process namespaces of its own, one within the other, where /proc has other numbers than the system calls: children
 * by fork and by vfork, what they execute, and threads. The argument counts the namespaces that are still to come. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *
says(void *what)
{
    int pid = (int)getpid();
    printf("%s of %s\n", (const char *)what, pid == 1 ? "the first" : "another");
    return NULL;
}

static void
await(pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    printf("ended with %d\n", WEXITSTATUS(status));
    fflush(stdout);
}

/* Does the file say what the process with this number there executes, and nothing of an engine? */
static void
tells(const char *number)
{
    char path[64], text[65536];
    snprintf(path, sizeof(path), "/proc/%s/maps", number);
    int file = open(path, O_RDONLY);
    ssize_t got = read(file, text, sizeof(text) - 1);
    text[got < 0 ? 0 : got] = '\0';
    close(file);
    printf("%s %s\n", strstr(text, "namespaces") != NULL ? "itself" : "another",
           strstr(text, "libdynamorio") != NULL ? "with an engine" : "alone");
}

int
main(int argc, char **argv)
{
    char left[16] = "end", number[16] = "";
    pthread_t thread;
    pthread_create(&thread, NULL, says, "thread");
    pthread_join(thread, NULL);
    if (strcmp(argv[1], "end") == 0)
        return 3;
    if (readlink("/proc/self", number, sizeof(number) - 1) > 0)
        tells(number);
    fflush(stdout);
    if (atoi(argv[1]) > 0) {
        snprintf(left, sizeof(left), "%d", atoi(argv[1]) - 1);
        /* Where the user may not, one who may everything in a namespace of users may. */
        if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
            printf("no namespaces\n");
            return 0;
        }
    }
    /* The first child is the namespace's first process, and without it nothing begins there. */
    if (atoi(argv[1]) % 2 == 0) {
        pid_t child = vfork();
        if (child == 0) {
            execl(argv[0], argv[0], left, NULL);
            _exit(9);
        }
        await(child);
    } else {
        pid_t child = fork();
        if (child == 0) {
            says("child");
            fflush(stdout);
            execl(argv[0], argv[0], left, NULL);
            _exit(9);
        }
        await(child);
    }
    return 4;
}
