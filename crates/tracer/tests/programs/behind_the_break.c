/* What is behind the break: nothing, at first and when it has moved, that can be written, asked about or not be replaced; and room for
 * more than libraries leave. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, MEGABYTE = 1 << 20, MOST = 500 };

static sigjmp_buf back;

static void
fault(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    siglongjmp(back, info->si_code == SEGV_MAPERR ? 1 : 2);
}

static void
look(const char *when, long pages)
{
    uintptr_t at = (((uintptr_t)sbrk(0) + PAGE - 1) & -(uintptr_t)PAGE) + (uintptr_t)pages * PAGE;
    int faulted = sigsetjmp(back, 1);
    if (faulted == 0)
        *(volatile char *)at = 1;
    int asked = msync((void *)at, PAGE, MS_ASYNC) == 0 ? 0 : errno;
    void *there = mmap((void *)at, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    printf("%s, page %ld: faults %d, msync %s, maps %d\n", when, pages, faulted, strerror(asked), there == (void *)at);
    if (there != MAP_FAILED)
        munmap(there, PAGE);
}

static void
grow(void)
{
    int got = 0;
    for (char *more; got < MOST && (more = sbrk(MEGABYTE)) != (void *)-1; got++)
        *more = (char)got;
    printf("grew by %d MB\n", got);
}

int
main(void)
{
    static char line[200];
    setvbuf(stdout, line, _IOLBF, sizeof(line));
    struct sigaction act = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &act, NULL);
    static const long pages[] = { 0, 1, 4, 900 };
    for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++)
        look("at first", pages[i]);
    sbrk(3 * PAGE + 40);
    look("moved", 0);
    grow();
    look("grown", 2);
    sbrk(-100 * MEGABYTE);
    look("shrunk", 2);
    /* The kernel does not replace what the program has there. */
    char *end = (char *)(((uintptr_t)sbrk(0) + PAGE - 1) & -(uintptr_t)PAGE);
    mmap(end + 5 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    printf("past a mapping: %d, up to it: %d\n", sbrk(7 * PAGE) != (void *)-1, sbrk(4 * PAGE) != (void *)-1);
    return 0;
}
