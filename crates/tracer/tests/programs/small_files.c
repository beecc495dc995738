/* A limit on the size of files is one on the program's files only, and its signal comes for these only. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t came;

static void
count(int sig)
{
    (void)sig;
    came++;
}

/* Code and a thread that nobody has seen before the limit. */
static void *
more(void *numbers)
{
    qsort(numbers, 4, sizeof(int), (int (*)(const void *, const void *))strcmp);
    return NULL;
}

static void
limited(rlim_t soft, rlim_t hard)
{
    struct rlimit limit = { soft, hard };
    char bytes[300] = "";
    int numbers[4] = { 4, 3, 2, 1 };
    pthread_t thread;
    FILE *file = tmpfile();
    if (file == NULL || setrlimit(RLIMIT_FSIZE, &limit) != 0)
        exit(1);
    if (pthread_create(&thread, NULL, more, numbers) == 0)
        pthread_join(thread, NULL);
    int first = (int)write(fileno(file), bytes, sizeof(bytes));
    int second = (int)write(fileno(file), bytes, sizeof(bytes));
    int failure = errno;
    getrlimit(RLIMIT_FSIZE, &limit);
    printf("wrote %d, %d (%s), %d signals, limit %ld\n", first, second,
           second < 0 ? strerror(failure) : "", (int)came, (long)limit.rlim_cur);
    fflush(stdout);
}

int
main(void)
{
    signal(SIGXFSZ, count);
    for (int way = 0; way < 4; way++) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            if (way == 1)
                signal(SIGXFSZ, SIG_DFL);
            rlim_t size = way == 2 ? 400 : 200;
            limited(size, way == 3 ? size : RLIM_INFINITY);
            _exit(0);
        }
        waitpid(pid, &status, 0);
        printf("%d: %x\n", way, (unsigned)status);
        fflush(stdout);
    }
    return 0;
}
