/* /proc/self/maps lists what the program has mapped, all of it and nothing else, also where something of others lies between two large
 * parts of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, PARTS = 200, ROUNDS = 400, STACK = 1 << 20 };
#define LARGE (300UL << 20)

static struct { char *begin; size_t pages; } parts[PARTS];
static char text[1 << 20];
static unsigned random_state = 1;

static unsigned
random_below(unsigned n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

static char *
map(size_t bytes)
{
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        exit(1);
    return at;
}

/* How many of the bytes are listed. */
static size_t
listed(const char *begin, const char *end)
{
    unsigned long from = (unsigned long)begin, to = (unsigned long)end, first, behind;
    size_t all = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    setvbuf(maps, text, _IOFBF, sizeof(text));
    while (fscanf(maps, "%lx-%lx%*[^\n]", &first, &behind) == 2) {
        first = first < from ? from : first;
        behind = behind > to ? to : behind;
        all += first < behind ? behind - first : 0;
    }
    fclose(maps);
    return all;
}

static void *
nothing(void *of)
{
    return of;
}

int
main(void)
{
    char *above = map(LARGE);
    for (int i = 0; i < 8; i++) {
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, above + i * STACK, STACK);
        pthread_create(&thread, &attributes, nothing, NULL);
        pthread_join(thread, NULL);
    }
    char *below = map(LARGE);
    if (below > above) {
        char *other = below;
        below = above;
        above = other;
    }
    printf("%zu MiB of both, %zu bytes between them\n", (listed(below, below + LARGE) + listed(above, above + LARGE)) >> 20,
           listed(below + LARGE, above));
    size_t mapped = 0, found = 0;
    for (int i = 0; i < ROUNDS; i++) {
        unsigned n = random_below(PARTS);
        if (parts[n].begin != NULL) {
            munmap(parts[n].begin, parts[n].pages * PAGE);
            parts[n].begin = NULL;
        } else {
            parts[n].pages = 1 + random_below(64);
            parts[n].begin = map(parts[n].pages * PAGE);
        }
    }
    for (int i = 0; i < PARTS; i++) {
        if (parts[i].begin != NULL) {
            mapped += parts[i].pages * PAGE;
            found += listed(parts[i].begin, parts[i].begin + parts[i].pages * PAGE);
        }
    }
    printf("%zu bytes mapped, %zu listed\n", mapped, found);
    return 0;
}
