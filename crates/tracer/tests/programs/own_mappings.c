/* /proc/self/maps lists what the program has mapped, all of it and nothing else: large parts, and every free page among its libraries, so that
 * the kernel joins some of them with what others have mapped there. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 8192 };
#define LARGE (300UL << 20)

typedef struct { bool listed[PAGES]; } pages_t;

static char text[1 << 20];
static bool mapped[PAGES];

static char *
map(void *at, size_t bytes, int flags)
{
    return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

/* Which pages from there on are listed. */
static pages_t
listed(uintptr_t from)
{
    pages_t pages = { 0 };
    unsigned long begin, end;
    FILE *maps = fopen("/proc/self/maps", "r");
    setvbuf(maps, text, _IOFBF, sizeof(text));
    while (fscanf(maps, "%lx-%lx%*[^\n]", &begin, &end) == 2) {
        for (int i = 0; i < PAGES; i++) {
            uintptr_t page = from + (uintptr_t)i * PAGE;
            pages.listed[i] |= begin <= page && page < end;
        }
    }
    fclose(maps);
    return pages;
}

static void
all_of_a_large_part(void)
{
    uintptr_t large = (uintptr_t)map(NULL, LARGE, MAP_NORESERVE);
    size_t missing = 0;
    for (uintptr_t at = large; at + PAGES * PAGE <= large + LARGE; at += PAGES * PAGE) {
        pages_t pages = listed(at);
        for (int i = 0; i < PAGES; i++)
            missing += !pages.listed[i];
    }
    printf("%zu pages of a large part are missing\n", missing);
}

static void
all_that_was_free(void)
{
    uintptr_t from = (getauxval(AT_SYSINFO_EHDR) & -(uintptr_t)PAGE) - (uintptr_t)PAGES * PAGE;
    size_t missing = 0, others = 0;
    pages_t before = listed(from);
    for (int i = 0; i < PAGES; i++) {
        char *page = (char *)from + (uintptr_t)i * PAGE;
        mapped[i] = map(page, PAGE, MAP_FIXED_NOREPLACE) == page;
        if (mapped[i])
            *page = 1;
    }
    pages_t after = listed(from);
    for (int i = 0; i < PAGES; i++) {
        bool own = before.listed[i] || mapped[i];
        missing += own && !after.listed[i];
        others += !own && after.listed[i];
    }
    printf("%zu pages among the libraries are missing, %zu are not the program's\n", missing, others);
}

int
main(void)
{
    all_of_a_large_part();
    all_that_was_free();
    return 0;
}
