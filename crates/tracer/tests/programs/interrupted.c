/* Who sees EINTR? "waits": threads wait in each way there is while another forks, and no signal comes. "forks": signals come,
 * of a handler without SA_RESTART, and the calls are such as never fail so. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLL, SLEEP, EPOLL, SELECT, SEMAPHORE, SIGNAL, SOCKET, WAYS };

static const long MS = 1000000;
static volatile int done;
static int interrupted[WAYS];

static int
wait_once(int way, int epoll, int sockets[2])
{
    struct timespec time = { 0, 20 * MS };
    struct timeval value = { 0, 20000 };
    struct epoll_event event;
    sigset_t set;
    sem_t semaphore;
    char byte;
    switch (way) {
    case POLL: return poll(NULL, 0, 20);
    case SLEEP: return nanosleep(&time, NULL);
    case EPOLL: return epoll_wait(epoll, &event, 1, 20);
    case SELECT: return select(0, NULL, NULL, NULL, &value);
    case SEMAPHORE:
        sem_init(&semaphore, 0, 0);
        clock_gettime(CLOCK_REALTIME, &time);
        time.tv_nsec += 20 * MS;
        time.tv_sec += time.tv_nsec / (1000 * MS);
        time.tv_nsec %= 1000 * MS;
        return sem_timedwait(&semaphore, &time);
    case SIGNAL:
        sigemptyset(&set);
        sigaddset(&set, SIGUSR2);
        return sigtimedwait(&set, NULL, &time);
    default: return (int)recv(sockets[0], &byte, 1, 0);
    }
}

static void *
waiter(void *p)
{
    int way = (int)(long)p, epoll = epoll_create1(0), sockets[2];
    struct timeval limit = { 0, 20000 };
    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    while (!done) {
        errno = 0;
        if (wait_once(way, epoll, sockets) < 0 && errno == EINTR)
            interrupted[way]++;
    }
    return NULL;
}

/* 1 where the child could not be made. */
static int
fork_and_wait(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return pid < 0;
}

static int
waits(void)
{
    pthread_t threads[WAYS];
    int failed = 0;
    for (long i = 0; i < WAYS; i++)
        pthread_create(&threads[i], NULL, waiter, (void *)i);
    for (int i = 0; i < 40; i++) {
        usleep(3000);
        failed += fork_and_wait();
    }
    done = 1;
    for (int i = 0; i < WAYS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < WAYS; i++)
        printf("%d interrupted\n", interrupted[i]);
    return failed;
}

static const struct itimerval often = { { 0, 30 }, { 0, 30 } }, never;
static volatile int ticks_left;

/* Few at a time: the handling of more than that may take all there is. */
static void
tick(int sig)
{
    if (--ticks_left == 0)
        setitimer(ITIMER_REAL, &never, NULL);
}

static void *
nothing(void *p)
{
    return p;
}

static int
forks(void)
{
    struct sigaction action = { .sa_handler = tick };
    int failed = 0, maps = 0, threads = 0;
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 200; i++) {
        pthread_t t;
        ticks_left = 50;
        setitimer(ITIMER_REAL, &often, NULL);
        failed += fork_and_wait();
        for (int k = 0; k < 20; k++) {
            void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            maps += p == MAP_FAILED || munmap(p, 4096) != 0;
        }
        if (pthread_create(&t, NULL, nothing, NULL) != 0)
            threads++;
        else
            pthread_join(t, NULL);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("failed: %d forks, %d maps, %d threads\n", failed, maps, threads);
    return failed + maps + threads;
}

int
main(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "forks") == 0 ? forks() : waits();
}
