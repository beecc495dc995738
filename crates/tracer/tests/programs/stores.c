/* Stores for as long as it is told: `stores SECONDS`, 0 for ever; counted by line, a line a round.
 * `stores 3 stubborn` also ignores SIGINT. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long memory[4096];

int main(int argc, char **argv)
{
    time_t end = time(NULL) + atoi(argv[1]);
    if (argc > 2)
        signal(SIGINT, SIG_IGN);
    for (long round = 0; time(NULL) <= end || atoi(argv[1]) == 0; round++) {
        for (int i = 0; i < 4096; i++)
            memory[i] += round;
        if (round == 3) {
            puts("under way");
            fflush(stdout);
        }
    }
    puts("done");
    return 0;
}
