/* One thread opens, replaces and closes files, in several ways in turn, while another one makes threads and a third is blocked
 * opening a pipe: what it opens has the least number that is free, and stays what it is until it is closed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile int over, begins, piped;

static void *
nothing(void *given)
{
    return given;
}

static void *
makes_threads(void *rounds)
{
    for (long i = 0; i < (long)rounds; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL) == 0)
            pthread_join(thread, NULL);
    }
    over = 1;
    return NULL;
}

static void *
opens_a_pipe(void *name)
{
    begins = 1;
    piped = open(name, O_RDONLY);
    return NULL;
}

static int
open_one(int way)
{
    int both[2] = { -1, -1 };
    switch (way) {
    case 0: return open("/dev/null", O_RDONLY);
    case 1: return dup(0);
    case 2: return fcntl(0, F_DUPFD, 3);
    case 3: return socket(AF_UNIX, SOCK_STREAM, 0);
    case 4: return eventfd(0, 0);
    case 5: return memfd_create("one", 0);
    case 6: return open("/proc/self/status", O_RDONLY);
    case 7: return openat(AT_FDCWD, "/dev", O_RDONLY | O_DIRECTORY);
    default:
        if (pipe(both) == 0)
            close(both[1]);
        return both[0];
    }
}

int
main(int argc, char **argv)
{
    (void)argc;
    enum { WAYS = 9 };
    long seen[WAYS] = { 0 }, lost = 0, limits = 0;
    struct stat is, found;
    struct rlimit before, now;
    pthread_t maker, waits;
    int zero = open("/dev/zero", O_RDONLY);
    fstat(zero, &is);
    getrlimit(RLIMIT_NOFILE, &before);
    unlink(argv[1]);
    if (mkfifo(argv[1], 0600) != 0)
        return 2;
    /* That has the next number from now on, though it comes to be open when somebody writes. */
    pthread_create(&waits, NULL, opens_a_pipe, argv[1]);
    while (!begins)
        usleep(1000);
    usleep(300000);
    pthread_create(&maker, NULL, makes_threads, (void *)300L);
    for (int i = 0; !over; i++) {
        int file = open_one(i % WAYS);
        seen[i % WAYS] |= 1L << file % 64;
        close(file);
        dup2(zero, file);
        for (volatile int wait = 0; wait < 500; wait++)
            ;
        lost += fstat(file, &found) != 0 || found.st_rdev != is.st_rdev;
        close(file);
        getrlimit(RLIMIT_NOFILE, &now);
        limits += now.rlim_cur != before.rlim_cur || now.rlim_max != before.rlim_max;
    }
    pthread_join(maker, NULL);
    close(open(argv[1], O_WRONLY));
    pthread_join(waits, NULL);
    unlink(argv[1]);
    printf("pipe: %d\n", piped - zero);
    for (int way = 0; way < WAYS; way++)
        printf("%d: %s\n", way, seen[way] == 1L << (piped + 1) ? "in its place" : "elsewhere");
    printf("%s, limits %s\n", lost == 0 ? "none lost" : "some lost", limits == 0 ? "stay" : "change");
    return 0;
}
