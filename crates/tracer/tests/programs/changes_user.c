/* changes_user USER [ROOT PROGRAM]: writes much, becomes another user (in another root directory),
 * and goes on with a thread, a child and another program. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long data[100000];

static void *work(void *unused)
{
    for (long i = 0; i < 100000; i++)
        data[i] = i;
    return unused;
}

int main(int argc, char **argv)
{
    printf("user %d\n", geteuid());
    fflush(stdout);
    work(NULL);
    if (argc < 2)
        return 0;
    if (argc > 2 && (chroot(argv[2]) != 0 || chdir("/") != 0))
        return 1;
    if (geteuid() == 0 && setresuid((uid_t)atoi(argv[1]), (uid_t)atoi(argv[1]), (uid_t)atoi(argv[1])) != 0)
        return 2;
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 3;
    pid_t child = fork();
    if (child == 0) {
        work(NULL);
        execl(argc > 3 ? argv[3] : argv[0], argv[0], NULL);
        _exit(4);
    }
    int status;
    waitpid(child, &status, 0);
    printf("as user %d: child ended with %d\n", geteuid(), status);
    return 0;
}
