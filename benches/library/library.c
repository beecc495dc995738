/* The library beside what it replaces: bare instructions, libpmem's non-temporal copy, the C library's memcpy. Every
 * ratio is theirs / ours; nothing is asserted, the figures are for people to judge. */
#include "paired.h"
#include "prestore.h"

#include <libpmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LINE 64
/* Lines that are cleaned over and over: 4 KiB, so that they stay in the nearest cache where a clean keeps them. */
#define CLEAN_LINES 64
#define CLEAN_ROUNDS 200
/* Copies go through this much memory in turn, several times a last-level cache. */
#define TARGET_BYTES (256u << 20)
#define SAMPLE_BYTES (8u << 20)

static void row(const char *name, struct paired paired, double operations, const char *goal)
{
    printf("%-46s %9.2f %9.2f   %.3f (%.3f to %.3f)  %s\n", name, paired.ours_ns / operations,
           paired.theirs_ns / operations, paired.ratio, paired.lower, paired.upper, goal);
    fflush(stdout);
}

static char lines[CLEAN_LINES * LINE] __attribute__((aligned(4096)));

static void clean_library(const void *context)
{
    (void)context;
    for (int round = 0; round < CLEAN_ROUNDS; round++)
        for (size_t i = 0; i < CLEAN_LINES; i++)
            prestore(lines + i * LINE, LINE, PRESTORE_CLEAN);
}

/* The operation is not known when compiling: a call into the library. */
static volatile prestore_op clean_op = PRESTORE_CLEAN;

static void clean_called(const void *context)
{
    prestore_op op = clean_op;
    (void)context;
    for (int round = 0; round < CLEAN_ROUNDS; round++)
        for (size_t i = 0; i < CLEAN_LINES; i++)
            prestore(lines + i * LINE, LINE, op);
}

static void clean_bare(const void *context)
{
    (void)context;
    for (int round = 0; round < CLEAN_ROUNDS; round++)
        for (size_t i = 0; i < CLEAN_LINES; i++)
#if defined(__x86_64__)
            __asm__ __volatile__("clwb (%0)" : : "r"(lines + i * LINE) : "memory");
#else
            __asm__ __volatile__("dc cvac, %0" : : "r"(lines + i * LINE) : "memory");
#endif
}

static void bench_clean(void)
{
    prestore_info info;

    prestore_query(PRESTORE_CLEAN, &info);
    printf("\nclean of lines that are already clean, ns a 64-byte line, against the bare instruction (clean is %s)\n",
           info.instruction);
    if (!info.active || info.retains == 0) {
        printf("left out: this CPU has no instruction that cleans and keeps a line\n");
        return;
    }
    row("prestore(line, 64, PRESTORE_CLEAN)", paired_run(clean_library, clean_bare, NULL, 201),
        CLEAN_LINES * CLEAN_ROUNDS, ">= 0.95");
    row("prestore(line, 64, op), op not a constant", paired_run(clean_called, clean_bare, NULL, 201),
        CLEAN_LINES * CLEAN_ROUNDS, "");
}

struct copy {
    size_t size, offset;
    char *target;
    const char *source;
};

/* Where the next copy goes; all ways walk on from where the last one stopped. */
static size_t position;

static size_t copies(const struct copy *copy)
{
    size_t count = SAMPLE_BYTES / copy->size;
    return count < 4 ? 4 : count;
}

static char *next_target(const struct copy *copy)
{
    if (position + copy->size + LINE > TARGET_BYTES)
        position = 0;
    char *at = copy->target + position + copy->offset;
    position += copy->size;
    return at;
}

#define COPIES(name, ...)                                                                              \
    static void name(const void *context)                                                              \
    {                                                                                                  \
        const struct copy *copy = context;                                                             \
        size_t n = copy->size;                                                                         \
        for (size_t left = copies(copy); left > 0; left--) {                                           \
            char *to = next_target(copy);                                                              \
            __VA_ARGS__;                                                                               \
        }                                                                                              \
    }

COPIES(copy_library, prestore_copy_skip(to, copy->source, n))
COPIES(copy_library_fenced, prestore_copy_skip(to, copy->source, n), prestore_fence())
COPIES(copy_pmem, pmem_memcpy(to, copy->source, n, PMEM_F_MEM_NONTEMPORAL | PMEM_F_MEM_NODRAIN))
COPIES(copy_pmem_fenced, pmem_memcpy(to, copy->source, n, PMEM_F_MEM_NONTEMPORAL))
COPIES(copy_libc, memcpy(to, copy->source, n))

static void bench_copies(const char *title, work_fn *ours, work_fn *theirs, size_t least, size_t offset, char *target,
                         const char *source, const char *goal)
{
    printf("\n%s, ns a copy\n", title);
    for (size_t size = least; size <= 1 << 20; size *= 4) {
        struct copy copy = { size, offset, target, source };
        char name[64];
        snprintf(name, sizeof name, "%zu bytes", size);
        row(name, paired_run(ours, theirs, &copy, 61), (double)copies(&copy), goal);
    }
}

int main(void)
{
    char *target = mmap(NULL, TARGET_BYTES + 4096, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    char *source = aligned_alloc(4096, 1 << 20);

    if (target == MAP_FAILED || !source) {
        perror("library");
        return 1;
    }
    memset(source, 7, 1 << 20);
    printf("%-46s %9s %9s   theirs / ours: median (quartiles)\n", "", "ours", "theirs");
    bench_clean();
    bench_copies("prestore_copy_skip against pmem_memcpy, non-temporal; neither fences", copy_library, copy_pmem, 256,
                 0, target, source, ">= 0.97");
    bench_copies("the same, with the fence of each after every copy", copy_library_fenced, copy_pmem_fenced, 256, 0,
                 target, source, ">= 0.97");
    bench_copies("the same, to addresses 24 bytes after a line's begin; neither fences", copy_library, copy_pmem, 256,
                 24, target, source, ">= 0.97");
    bench_copies("prestore_copy_skip against memcpy, destination not read again", copy_library, copy_libc, 1024, 0,
                 target, source, "> 1");
    return 0;
}
