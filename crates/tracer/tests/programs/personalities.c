/* Asks for its personality, changes it, and says what its children, threads and next images have, and what `/proc` says. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#define ASKS 0xffffffff

static void
look(const char *where)
{
    char text[32] = "";
    FILE *file = fopen("/proc/self/personality", "r");
    if (file != NULL && fgets(text, sizeof(text), file) == NULL)
        text[0] = '\0';
    if (file != NULL)
        fclose(file);
    text[strcspn(text, "\n")] = '\0';
    printf("%s: %x, %s in /proc\n", where, (unsigned)personality(ASKS), text);
}

static void *
thread(void *unused)
{
    look("thread");
    return unused;
}

static void
all(char *program)
{
    pthread_t other;
    look("itself");
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    for (int executes = 0; executes < 2; executes++) {
        pid_t child = fork();
        if (child == 0) {
            if (executes)
                execl(program, program, "image", NULL);
            look("child");
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

int
main(int argc, char **argv)
{
    static const unsigned asked[] = { ADDR_COMPAT_LAYOUT, UNAME26, ADDR_NO_RANDOMIZE | SHORT_INODE, 0, ADDR_NO_RANDOMIZE };
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc > 1) {
        look(argv[1]);
        return 0;
    }
    all(argv[0]);
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        printf("was %x\n", (unsigned)personality(asked[i]));
        all(argv[0]);
    }
    fflush(stdout);
    return 0;
}
