/* What a program may have of memory is little: it gets about that, is told what it set, and goes on where it has all of it, with
 * code that it has not executed yet, with children and with what it executes. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEP = 1 << 16, LITTLE = 100 << 20, MOST = 4096, PAGE = 4096 };

static void
tell(const char *when, int resource)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) == 0)
        printf("%s: %ld of %ld\n", when, (long)limit.rlim_cur, (long)limit.rlim_max);
    fflush(stdout);
}

/* How much there is, to about twice that. */
static void
use_all(void)
{
    static void *got[MOST];
    int n = 0;
    while (n < MOST &&
           (got[n] = mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) != MAP_FAILED)
        memset(got[n++], 1, STEP);
    printf("little: %d, nothing: %d, %s\n", n < MOST, n == 0, n < MOST ? strerror(errno) : "");
    /* The last eight give their place to code that is executed for the first time. */
    for (int i = n - 8; i >= 0 && i < n; i++) {
        unsigned char *code = got[i];
        mprotect(code, STEP, PROT_READ | PROT_WRITE | PROT_EXEC);
        for (int at = 0; at < STEP; at += 32) {
            memcpy(code + at, "\xb8\x07\x00\x00\x00\xc3", 6);
            if (((int (*)(void))(code + at))() != 7)
                abort();
        }
    }
    while (n > 0)
        munmap(got[--n], STEP);
}

int
main(int argc, char **argv)
{
    static char line[200];
    setvbuf(stdout, line, _IOLBF, sizeof(line));
    int resource = strcmp(argv[1], "data") == 0 ? RLIMIT_DATA : RLIMIT_AS;
    if (argc > 2) {
        tell("executed", resource);
        use_all();
        return 0;
    }
    struct rlimit limit = { LITTLE + 1024, LITTLE + 3 * 1024 }, more = { LITTLE, RLIM_INFINITY };
    struct rlimit odd = { LITTLE, LITTLE - 1 };
    printf("set: %d, wrong: %d\n", setrlimit(resource, &limit), setrlimit(resource, &odd));
    tell("set", resource);
    use_all();
    pid_t pid = fork();
    if (pid == 0) {
        tell("child", resource);
        use_all();
        execl("/proc/self/exe", argv[0], argv[1], "again", NULL);
        _exit(1);
    }
    int status;
    waitpid(pid, &status, 0);
    printf("ended: %d\n", status);
    int raised = setrlimit(resource, &more);
    printf("raised: %d\n", raised);
    limit.rlim_cur = limit.rlim_max;
    printf("up to its bound: %d\n", setrlimit(resource, &limit));
    tell("then", resource);
    return 0;
}
