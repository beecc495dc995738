/* Where the break begins relative to the program's own data, when nothing is placed at random, and what may be done with
 * the memory below it. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

enum { PAGE = 4096 };

extern char end[];

static void
move(const char *what, intptr_t bytes)
{
    char *begin = (char *)(((uintptr_t)end + PAGE - 1) & -(uintptr_t)PAGE);
    char *old = sbrk(bytes);
    printf("%s: %ld, then %ld\n", what, old == (char *)-1 ? -1 : (long)(old - begin),
           (long)((char *)sbrk(0) - begin));
}

int
main(int argc, char **argv)
{
    static char line[100];
    setvbuf(stdout, line, _IOLBF, sizeof(line));
    int now = personality(0xffffffff);
    if ((now & ADDR_NO_RANDOMIZE) == 0) {
        personality((unsigned long)now | ADDR_NO_RANDOMIZE);
        execv("/proc/self/exe", argv);
        return 1;
    }
    unsigned char *begin = sbrk(0);
    move("ten pages", 10 * PAGE);
    memset(begin, 1, 10 * PAGE);
    mprotect(begin + 2 * PAGE, PAGE, PROT_READ);
    move("past what was protected", 2000 * PAGE);
    begin[1000 * PAGE] = 1;
    move("to the beginning", -2010 * PAGE);
    move("below it", -PAGE);
    move("again", 3 * PAGE);
    printf("holds %d, %d\n", begin[0], begin[2 * PAGE]);
    begin[2 * PAGE] = 2;
    personality((unsigned long)now | ADDR_NO_RANDOMIZE | READ_IMPLIES_EXEC);
    move("executable", 2000 * PAGE);
    unsigned char *code = begin + 1500 * PAGE;
    memcpy(code, "\xb8\x07\x00\x00\x00\xc3", 6);
    printf("code says %d\n", ((int (*)(void))code)());
    return 0;
}
