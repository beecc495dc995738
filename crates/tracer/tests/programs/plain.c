/* Prints its arguments; also linked in other ways than dynamically. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char *copy = malloc(10000);
    memset(copy, 'x', 9999);
    copy[9999] = 0;
    for (int i = 1; i < argc; i++)
        puts(argv[i]);
    printf("%zu\n", strlen(copy));
    free(copy);
    return argc;
}
