/* Lets itself make no files any more, as a sandbox does, and executes code that is new. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

int
main(void)
{
    struct rlimit none = { 0, 0 };
    int numbers[4] = { 4, 3, 2, 1 };
    if (setrlimit(RLIMIT_FSIZE, &none) != 0)
        return 1;
    qsort(numbers, 4, sizeof(int), (int (*)(const void *, const void *))memcmp);
    return 0;
}
