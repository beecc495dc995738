/* Prints what /proc says of this process, as far as it is the same in every run. */
#define _GNU_SOURCE
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static size_t read_all(const char *path, char *to, size_t size)
{
    size_t length = 0;
    long got;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        printf("%s cannot be opened\n", path);
        return 0;
    }
    while ((got = read(file, to + length, size - length)) > 0)
        length += (size_t)got;
    close(file);
    return length;
}

static char text[1 << 20];

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Files that are mapped, and the kernel's names for the rest. */
static void names(const char *path)
{
    size_t length = read_all(path, text, sizeof(text) - 1);
    text[length] = '\0';
    printf("%s:\n", path);
    const char *found[64];
    int count = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        const char *name = strlen(line) > 73 ? line + 73 : "";
        unsigned long begin, end;
        int at = 0;
        if (sscanf(line, "%lx-%lx ", &begin, &end) != 2 || *name == '\0')
            continue;
        while (at < count && strcmp(found[at], name) != 0)
            at++;
        if (at == count && count < 64)
            found[count++] = name;
    }
    qsort(found, (size_t)count, sizeof(found[0]), compare);
    for (int i = 0; i < count; i++)
        printf("  %s\n", found[i]);
}

/* The range that an address is in, and its rights. */
static void range_of(const char *what, const void *address, const char *path)
{
    size_t length = read_all(path, text, sizeof(text) - 1);
    text[length] = '\0';
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        unsigned long begin, end;
        char rights[8];
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) == 3 &&
            (unsigned long)address >= begin && (unsigned long)address < end) {
            printf("%s: %s %s\n", what, rights, strlen(line) > 73 ? line + 73 : "");
            return;
        }
    }
    printf("%s: in no range\n", what);
}

/* The files that a folder lists, its own among them. */
static void listed(const char *folder)
{
    DIR *dir = opendir(folder);
    printf("%s:", folder);
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        printf(" %s", e->d_name);
    printf("\n");
    closedir(dir);
}

/* What is only read cannot be written. */
static void written(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    long result = write(file, "x", 1);
    int error = errno;
    printf("%s, written: %ld %s, mode %d, closed %d\n", path, result, strerror(error), fcntl(file, F_GETFL) & O_ACCMODE,
           fcntl(file, F_GETFD));
    close(file);
}

int main(int argc, char **argv)
{
    char path[64];
    size_t length = read_all("/proc/self/environ", text, sizeof(text)), count = 0, same = 0;
    for (char *at = text; at < text + length; at += strlen(at) + 1) {
        same += environ[count] != NULL && strcmp(at, environ[count]) == 0;
        count++;
    }
    printf("environ: %zu variables, %zu as expected\n", count, same);
    for (size_t i = 0; i < count && environ[i] != NULL; i++) {
        if (strncmp(environ[i], "DYNAMORIO", 9) == 0)
            printf("engine: %s\n", environ[i]);
    }
    length = read_all("/proc/self/cmdline", text, sizeof(text));
    printf("cmdline: %zu bytes, %s, %d arguments\n", length, text, argc);
    length = read_all("/proc/self/auxv", text, sizeof(text));
    for (Elf64_auxv_t *a = (Elf64_auxv_t *)text; (char *)a < text + length; a++) {
        if (a->a_type == AT_EXECFN)
            printf("name: %s\n", (char *)a->a_un.a_val);
        if (a->a_type == AT_ENTRY || a->a_type == AT_PHDR || a->a_type == AT_PHNUM)
            printf("auxiliary %lu: %d\n", a->a_type, a->a_un.a_val == getauxval(a->a_type));
        if (a->a_type == AT_NULL)
            printf("end: %ld bytes left\n", (long)(text + length - (char *)(a + 1)));
    }
    void *heap = malloc(100), *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    snprintf(path, sizeof(path), "/proc/%d/maps", getpid());
    range_of("code", (void *)main, path);
    range_of("heap", heap, path);
    range_of("stack", path, "/proc/thread-self/maps");
    range_of("map", map, "/proc/self/smaps");
    names("/proc/self/maps");
    names("/proc/self/smaps");
    length = (size_t)readlink("/proc/self/exe", text, sizeof(text) - 1);
    text[length] = '\0';
    printf("exe: %s, argument %s\n", strcmp(text, argv[0]) == 0 ? "the program" : text, argv[0]);
    char mine[4096], its[4096];
    size_t m = read_all(argv[0], mine, sizeof(mine)), i = read_all("/proc/self/exe", its, sizeof(its));
    printf("content: %d\n", m == i && memcmp(mine, its, m) == 0);
    struct stat asked, found;
    printf("asked: %d, %d,", stat("/proc/self/exe", &asked), stat(argv[0], &found));
    printf(" %d\n", asked.st_ino == found.st_ino && asked.st_size == found.st_size);
    for (int file = 3; file < 1024; file++) /* what the starter left open */
        close(file);
    written("/proc/self/maps");
    written("/proc/self/environ");
    listed("/proc/self/fd");
    listed("/proc/thread-self/fdinfo");
    printf("others: %zu\n", read_all("/proc/self/comm", text, sizeof(text)));
    return 0;
}
