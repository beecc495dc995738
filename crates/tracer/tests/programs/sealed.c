/* Code in memory whose protection is sealed (mseal), and that is written all the same. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SYS_MSEAL 462

static unsigned char *
code(int protection)
{
    return mmap(NULL, 8192, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int
run(unsigned char *at)
{
    return ((int (*)(void))at)();
}

static void
make(unsigned char *at, int value)
{
    static const unsigned char returns[] = { 0xb8, 0, 0, 0, 0, 0xc3 };
    memcpy(at, returns, sizeof(returns));
    at[1] = (unsigned char)value;
}

static void
said(const char *what, long result)
{
    printf("%s: %ld (%d)\n", what, result, result < 0 ? errno : 0);
}

static void
rewrite(unsigned char *at)
{
    int sum = 0;
    for (int i = 0; i < 50; i++) {
        make(at, i);
        sum = sum * 3 + run(at);
    }
    printf("written and run: %x\n", sum);
}

int
main(void)
{
    unsigned char *fixed = code(PROT_READ | PROT_WRITE), *before = code(7), *after = code(7), *part = code(7);
    make(fixed, 7);
    mprotect(fixed, 8192, PROT_READ | PROT_EXEC);
    said("sealed", syscall(SYS_MSEAL, fixed, 8192, 0));
    printf("%d\n", run(fixed));
    said("protected", mprotect(fixed, 8192, PROT_READ));
    said("unmapped", munmap(fixed, 8192));
    printf("%d\n", run(fixed));

    said("sealed, then run", syscall(SYS_MSEAL, before, 8192, 0));
    rewrite(before);

    make(after, 9);
    printf("%d\n", run(after));
    said("run, then sealed", syscall(SYS_MSEAL, after, 8192, 0));
    rewrite(after);

    make(part, 9);
    printf("%d\n", run(part));
    said("beside it", syscall(SYS_MSEAL, part + 4096, 4096, 0));
    rewrite(part);
    rewrite(part + 4090);
    said("not sealed", syscall(SYS_MSEAL, part, 1, ~0ul));
    said("nothing there", syscall(SYS_MSEAL, (void *)4096, 4096, 0));
    rewrite(part);
    return 0;
}
