/* What /proc says of the signals that the process blocks, ignores and handles, faults among them; also of a thread's, as
 * it says it to itself and to another, and in a child. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void
handle(int signal)
{
}

static void
block(int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void
tell_as(const char *name, const char *path)
{
    char line[1024];
    FILE *file = fopen(path, "r");
    printf("%s\n", name);
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "Sig", 3) == 0 && strncmp(line, "SigQ", 4) != 0)
            fputs(line, stdout);
    }
    if (file != NULL)
        fclose(file);
}

static void
tell(const char *path)
{
    tell_as(path, path);
}

/* The fields of `stat` that are about signals, and how many there are. */
static void
tell_stat(void)
{
    char line[2048];
    int field = 2;
    FILE *file = fopen("/proc/self/stat", "r");
    if (file == NULL || fgets(line, sizeof(line), file) == NULL)
        return;
    fclose(file);
    for (char *word = strtok(strrchr(line, ')') + 1, " "); word != NULL; word = strtok(NULL, " ")) {
        if (++field >= 31 && field <= 34)
            printf("%s ", word);
    }
    printf("of %d\n", field);
}

static volatile int number, told;

static void *
thread(void *unused)
{
    block(SIGFPE);
    block(SIGUSR2);
    tell("/proc/thread-self/status");
    number = gettid();
    while (!told)
        usleep(1000);
    return unused;
}

/* Numbers differ from run to run. */
static void
tell_thread(const char *format)
{
    char path[64];
    snprintf(path, sizeof(path), format, number);
    tell_as(format, path);
}

int
main(void)
{
    pthread_t other;
    /* Whatever it was begun with. */
    for (int sig = 1; sig <= SIGRTMAX; sig++)
        signal(sig, SIG_DFL);
    signal(SIGUSR1, handle);
    signal(SIGSEGV, handle);
    signal(SIGBUS, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGRTMAX, handle);
    block(SIGSEGV);
    block(SIGTERM);
    block(SIGRTMIN + 3);
    tell("/proc/self/status");
    tell_stat();
    pthread_create(&other, NULL, thread, NULL);
    while (number == 0)
        usleep(1000);
    tell_thread("/proc/self/task/%d/status");
    tell_thread("/proc/%d/status");
    told = 1;
    pthread_join(other, NULL);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char path[64];
        snprintf(path, sizeof(path), "/proc/%d/status", (int)getpid());
        signal(SIGUSR1, SIG_DFL);
        FILE *file = fopen(path, "r");
        printf("%s\n", file != NULL ? "a child" : "none");
        if (file != NULL)
            fclose(file);
        tell("/proc/self/status");
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}
