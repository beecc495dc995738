/* Asks for its limit on open files, lowers it, opens files until there are no more, and goes on there: a thread, a child, files
 * under numbers of its choice, all closed at once, and itself executed with what it set. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *what)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    printf("%s: %ld %ld, %ld\n", what, (long)limit.rlim_cur, (long)limit.rlim_max, sysconf(_SC_OPEN_MAX));
}

static void set(rlim_t soft, rlim_t hard)
{
    struct rlimit to = {soft, hard}, before = {0, 0};
    int result = prlimit(0, RLIMIT_NOFILE, &to, &before);
    printf("to %ld %ld: %d", (long)soft, (long)hard, result);
    printf(" %s, before %ld %ld\n", result ? strerror(errno) : "", (long)before.rlim_cur, (long)before.rlim_max);
}

static int fill(void)
{
    int opened = 0, last = -1;
    for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0; opened++)
        last = fd;
    printf("opened %d, the last %d: %s\n", opened, last, strerror(errno));
    return last;
}

static void *works(void *sum)
{
    int *memory = malloc(400000);
    for (int i = 0; i < 100000; i++)
        memory[i] = i;
    for (int i = 0; i < 100000; i += 7)
        *(long *)sum += memory[i];
    free(memory);
    return NULL;
}

int main(int count, char **arguments)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    show("at the beginning");
    if (count > 1) {
        set(70, 70);
        fill();
        printf("%ld\n", (long)syscall(SYS_close_range, 3u, ~0u, 0));
        return fill() != 69;
    }
    set(2000, 1000);
    set(500, 900);
    for (int to = 498; to < 502; to++) {
        int result = dup2(1, to);
        printf("%d %s, ", result, result < 0 ? strerror(errno) : "");
        result = fcntl(1, F_DUPFD, to);
        printf("%d %s\n", result, result < 0 ? strerror(errno) : "");
    }
    set(600, 900);
    fill();
    long sum = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, works, &sum);
    pthread_join(thread, NULL);
    printf("%ld\n", sum);
    int status = 0;
    if (fork() == 0) {
        close(17);
        fill();
        works(&sum);
        _exit(sum & 0x7f);
    }
    wait(&status);
    printf("the child ended with %x\n", status);
    printf("%ld\n", (long)syscall(SYS_close_range, 3u, ~0u, 0));
    fill();
    syscall(SYS_close_range, 3u, ~0u, 0);
    set(70, 80);
    execl("/proc/self/exe", arguments[0], "again", (char *)NULL);
    return 1;
}
