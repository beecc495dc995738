/* Some threads execute programs in processes that share the memory, most of which are not there; others fork meanwhile. The
 * children of those find whatever the first ones were about to do. */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 150, DONE = 7 };

extern char **environ;
static int wrong[THREADS];

static int
ends_with(pid_t pid, int code)
{
    int status;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == code;
}

static void *
executes(void *count)
{
    char *words[] = {"true", NULL};
    pid_t pid;
    for (int i = 0; i < ROUNDS; i++) {
        if (posix_spawn(&pid, "/nonexistent", NULL, NULL, words, environ) == 0)
            ++*(int *)count;
        if (i % 50 == 0 && (posix_spawn(&pid, "/bin/true", NULL, NULL, words, environ) != 0 || !ends_with(pid, 0)))
            ++*(int *)count;
    }
    return NULL;
}

static void *
forks(void *count)
{
    for (int i = 0; i < ROUNDS; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(DONE);
        if (!ends_with(pid, DONE))
            ++*(int *)count;
    }
    return NULL;
}

int
main(void)
{
    pthread_t threads[THREADS];
    int all = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, i % 2 ? executes : forks, &wrong[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        all += wrong[i];
    }
    printf("%d wrong\n", all);
    return all != 0;
}
