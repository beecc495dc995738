/* How much memory the kernel says that this program has: in one file as in another, and no more than it asked for. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KB = 1024, PAGE = 4096, MB = 1 << 20, LITTLE = 2 * MB, MUCH = 64 * MB };

static char text[1 << 20];

static const char *read_all(const char *path)
{
    size_t length = 0;
    long got;
    int file = open(path, O_RDONLY);
    while ((got = read(file, text + length, sizeof(text) - 1 - length)) > 0)
        length += (size_t)got;
    close(file);
    text[length] = '\0';
    return text;
}

static long field(const char *path, const char *name)
{
    const char *found = strstr(read_all(path), name);
    return found == NULL ? -1 : atol(found + strlen(name)) * KB;
}

static long mapped(void)
{
    long sum = 0;
    unsigned long begin, end;
    read_all("/proc/self/maps");
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (strstr(line, "[vsyscall]") == NULL && sscanf(line, "%lx-%lx", &begin, &end) == 2)
            sum += (long)(end - begin);
    }
    return sum;
}

static int alike(long a, long b)
{
    return labs(a - b) < LITTLE;
}

static void sizes(const char *when)
{
    long size, resident, shared, vsize, rss;
    sscanf(read_all("/proc/thread-self/statm"), "%ld %ld %ld", &size, &resident, &shared);
    sscanf(strrchr(read_all("/proc/self/stat"), ')') + 1,
           " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld %ld", &vsize, &rss);
    long total = mapped();
    printf("%s: statm %d, stat %d, status %d, peak %d, below %d MB\n", when, size * PAGE == total, vsize == total,
           field("/proc/self/status", "VmSize:") == total, field("/proc/self/status", "VmPeak:") >= total,
           (int)(total / MUCH + 1) * (MUCH / MB));
    resident *= PAGE;
    long anonymous = field("/proc/self/status", "RssAnon:"), file = field("/proc/self/status", "RssFile:");
    printf("  resident: stat %d, status %d, rollup %d, most %d, %ld times %d MB and little %d\n", alike(rss * PAGE, resident),
           alike(field("/proc/self/status", "VmRSS:"), resident), alike(field("/proc/self/smaps_rollup", "Rss:"), resident),
           alike(field("/proc/self/status", "VmHWM:"), resident), resident / MUCH, MUCH / MB,
           resident % MUCH < 3 * LITTLE);
    printf("  of it not of files: %d, of files %d, data %ld times\n", alike(anonymous + file, resident),
           alike(shared * PAGE, file), field("/proc/self/status", "VmData:") / MUCH);
}

/* What is kept open tells of now when it is read again. */
static void again(int file, const char *how)
{
    long size = 0;
    char line[100] = "";
    if (how == NULL && pread(file, line, sizeof(line) - 1, 0) <= 0)
        printf("nothing to read\n");
    if (how != NULL && (lseek(file, 0, SEEK_SET) != 0 || read(file, line, sizeof(line) - 1) <= 0))
        printf("nothing to read\n");
    sscanf(line, "%ld", &size);
    printf("%s: %ld times\n", how == NULL ? "read at its beginning" : how, size * PAGE / MUCH);
}

int main(void)
{
    memset(text, 1, sizeof(text));
    sizes("at first");
    int statm = open("/proc/self/statm", O_RDONLY);
    again(statm, NULL);
    char *more = mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    again(statm, NULL);
    again(statm, "rewound");
    memset(more, 1, MUCH);
    sizes("with more");
    munmap(more, MUCH);
    again(statm, "without it");
    int file = dup(statm), plain = open("/proc/self/comm", O_RDONLY);
    close(statm);
    printf("the same number: %d\n", dup2(plain, statm) == statm);
    char name[4] = "";
    printf("%ld, %s\n", (long)pread(statm, name, 3, 0), name);
    close(file);
    return 0;
}
