/* A fixed number of stores, then, if told, a crash. */
#include <stdlib.h>

static volatile long memory[4096];

int main(int argc, char **argv)
{
    for (long round = 0; round < 200; round++)
        for (int i = 0; i < 4096; i++)
            memory[i] = round;
    if (argc > 1)
        *(volatile int *)8 = 1;
    return 0;
}
