/* A program at the lowest addresses, as GCL's images are, asks for a break. It executes itself over and over: where other
 * things lie is by chance. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS = 40, PAGE = 4096, STEP = 100 * PAGE, STEPS = 40 };

int
main(int argc, char **argv)
{
    int run = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < STEPS; i++) {
        char *more = sbrk(STEP);
        if (more == (char *)-1) {
            printf("run %d: no break behind %d bytes\n", run, i * STEP);
            return 1;
        }
        memset(more, 1, STEP);
    }
    if (run == RUNS) {
        printf("%d runs\n", run);
        return 0;
    }
    char next[16];
    snprintf(next, sizeof(next), "%d", run + 1);
    execl(argv[0], argv[0], next, NULL);
    return 2;
}
