/* Where the break is after it was moved by some bytes, relative to where it was. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int
main(void)
{
    static const long moves[] = { 40, 40, 5000, -60, -4000, 9000000, -8000000, 1, 4095 };
    static char line[100];
    setvbuf(stdout, line, _IOLBF, sizeof(line));
    char *begin = sbrk(0);
    for (size_t i = 0; i < sizeof(moves) / sizeof(*moves); i++) {
        char *old = sbrk(moves[i]);
        if (old == (char *)-1)
            return 1;
        if (moves[i] > 0)
            memset(old, 7, (size_t)moves[i]);
        printf("%ld, %ld\n", (long)(old - begin), (long)((char *)sbrk(0) - begin));
    }
    return 0;
}
