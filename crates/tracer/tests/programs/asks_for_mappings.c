/* What the kernel says of a mapping when it is asked about one (Linux 6.11), beside what it lists: each by its begin, one after the
 * other, and what is refused. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

struct query {
    uint64_t size, flags, address;
    uint64_t begin, end, vma_flags, page_size, offset, inode;
    uint32_t major, minor, name_size, build_id_size;
    uint64_t name, build_id;
};

#define QUERY _IOWR('f', 17, struct query)
enum { WRITABLE = 2, NEXT = 0x10, PAGE = 4096, MOST = 4096, LINE = 512 };

static char lines[MOST][LINE];
static int maps;

static int
list(void)
{
    int n = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (n < MOST && fgets(lines[n], LINE, file) != NULL)
        n += strstr(lines[n], "[vsyscall]") == NULL;
    fclose(file);
    return n;
}

static int
ask(struct query *query, uint64_t address, uint64_t flags, char *name)
{
    memset(query, 0, sizeof(*query));
    query->size = sizeof(*query);
    query->address = address;
    query->flags = flags;
    query->name = (uintptr_t)name;
    query->name_size = name == NULL ? 0 : LINE;
    return ioctl(maps, QUERY, query) == 0 ? 0 : errno;
}

/* Is it what the list says? */
static int
is_as_listed(const struct query *query, const char *name, const char *line)
{
    unsigned long begin, end, offset, inode;
    char access[5], path[LINE] = "";
    unsigned major, minor;
    sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %511[^\n]", &begin, &end, access, &offset, &major, &minor, &inode, path);
    uint64_t flags = (access[0] == 'r') | (access[1] == 'w') << 1 | (access[2] == 'x') << 2 | (access[3] == 's') << 3;
    int named = strcmp(path, name) == 0 && query->name_size == (*path == '\0' ? 0 : strlen(path) + 1);
    return query->begin == begin && query->end == end && query->vma_flags == flags && query->offset == offset &&
           query->inode == inode && query->major == major && query->minor == minor && query->page_size == PAGE && named;
}

static void
compare(int n)
{
    struct query query;
    char name[LINE];
    int exact = 0, in_turn = 0;
    uint64_t at = 0;
    for (int i = 0; i < n; i++) {
        name[0] = '\0';
        uint64_t begin = strtoull(lines[i], NULL, 16);
        exact += ask(&query, begin + PAGE - 1, 0, name) == 0 && is_as_listed(&query, name, lines[i]) &&
                 query.address == begin + PAGE - 1 && query.flags == 0;
        name[0] = '\0';
        in_turn += ask(&query, at, NEXT, name) == 0 && is_as_listed(&query, name, lines[i]);
        at = query.end;
    }
    printf("exact: %d wrong, in turn: %d wrong, behind all: %d\n", n - exact, n - in_turn, ask(&query, at, NEXT, name));
}

static void
refused(char *page)
{
    struct query query;
    char name[LINE];
    uint64_t at = (uintptr_t)page;
    printf("unmapped: %d, ", ask(&query, at + PAGE, 0, name));
    printf("not writable: %d, writable: %d, ", ask(&query, at + 2 * PAGE, WRITABLE, name), ask(&query, at, WRITABLE, name));
    int next = ask(&query, at + PAGE, NEXT, name);
    printf("the next one: %d %d\n", next, query.begin == at + 2 * PAGE);
    query.size = 8;
    printf("small: %d, ", ioctl(maps, QUERY, &query) == 0 ? 0 : errno);
    query.size = 1 << 20;
    printf("large: %d, ", ioctl(maps, QUERY, &query) == 0 ? 0 : errno);
    printf("nowhere: %d, ", ioctl(maps, QUERY, NULL) == 0 ? 0 : errno);
    printf("unknown flags: %d, ", ask(&query, at, 1 << 20, name));
    uint64_t heap = (uintptr_t)malloc(1);
    ask(&query, heap, 0, name);
    query.name_size = 3;
    printf("small name: %d, ", ioctl(maps, QUERY, &query) == 0 ? 0 : errno);
    query.size = offsetof(struct query, offset);
    query.name_size = 0;
    int less = ioctl(maps, QUERY, &query) == 0 ? 0 : errno;
    printf("less: %d %d\n", less, query.begin <= heap && heap < query.end);
}

int
main(void)
{
    struct query query;
    char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + 2 * PAGE, PAGE, PROT_READ);
    munmap(pages + PAGE, PAGE);
    free(malloc(100000));
    maps = open("/proc/self/maps", O_RDONLY);
    if (ask(&query, (uintptr_t)pages, 0, NULL) == ENOTTY) {
        puts("the kernel cannot be asked");
        return 0;
    }
    fopen("/proc/self/maps", "r"); /* what it takes is there from now on */
    compare(list());
    refused(pages);
    return 0;
}
