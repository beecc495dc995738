/* Saves and restores processor state in all forms, and says which bytes of its memory each is to touch: those that are not left as they
 * were. `xsavec` and `xsaveopt` leave out what is not in use. Without these instructions it ends with 77.
 * What is left as it was is told by filling the area twice, differently. A recorder that hands over a full buffer in one of the two
 * passes loads registers there that were not in use: passes with different registers in use are said to be void, and made again. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <stdio.h>
#include <sys/mman.h>

#include "tiles.h"

#define BYTES 16384
#define HEADER 512
#define HEADER_END 576
#define ATTEMPT (BYTES - 1)

static uint8_t area[BYTES] __attribute__((aligned(4096)));
static uint8_t other[BYTES] __attribute__((aligned(64)));
static uint8_t seen[2][BYTES];
static uint8_t rows[1024];
static char said[65536];
static size_t length;
static int files[3];
static int tiles;

enum form { ALL, IN_USE, COMPACTED };

/* By the kernel, so that all other accesses are those of saving. The header says how the area is laid out. */
static void
fill(int pattern)
{
    if (pread(files[pattern], area, BYTES, 0) != BYTES)
        _exit(3);
}

static void
look(uint8_t *to)
{
    if (pwrite(files[2], area, BYTES, 0) != BYTES || pread(files[2], to, BYTES, 0) != BYTES)
        _exit(3);
}

static void
use(int which)
{
    if (tiles)
        release();
    __asm__ volatile("vzeroall\n\tfninit" : : : "xmm0", "xmm1");
    if (which & 1)
        __asm__ volatile("vpcmpeqd %%ymm1, %%ymm1, %%ymm1\n\tfld1" : : : "xmm1");
    if (which & 2) {
        configure();
        tile_load(1, rows, 64);
    }
}

static void
save(enum form form, uint32_t mask)
{
    switch (form) {
    case ALL: __asm__ volatile("xsave64 (%0)" : : "r"(area), "a"(mask), "d"(0) : "memory"); break;
    case IN_USE: __asm__ volatile("xsaveopt64 (%0)" : : "r"(area), "a"(mask), "d"(0) : "memory"); break;
    default: __asm__ volatile("xsavec64 (%0)" : : "r"(area), "a"(mask), "d"(0) : "memory");
    }
}

static void
restore(const uint8_t *from, uint32_t mask)
{
    __asm__ volatile("xrstor64 (%0)" : : "r"(from), "a"(mask), "d"(0) : "memory");
}

static int
stored(int at)
{
    return seen[0][at] == seen[1][at];
}

static void
say(const char *kind, int from, int to)
{
    if (length > sizeof(said) - 64)
        _exit(4);
    length += (size_t)sprintf(said + length, "%s %d %d\n", kind, from, to - from);
}

/* What was stored; as `restored`, with all of the header. */
static void
say_all(enum form form, int restored)
{
    int header = restored ? HEADER_END : HEADER + (form == COMPACTED ? 16 : 8), from = -1;
    for (int at = 0; at < BYTES; at++) {
        int in = at < HEADER || at >= HEADER_END ? stored(at) : at < header;
        if (in && from < 0)
            from = at;
        if (!in && from >= 0) {
            /* In whole words: protection keys are four bytes. */
            say(restored ? "Load" : "Store", from, (at + 7) / 8 * 8);
            from = -1;
        }
    }
}

/* Whether the same was in use both times. */
static int
attempt(int which, enum form form, uint32_t mask)
{
    *(volatile uint8_t *)&area[ATTEMPT] = 0;
    for (int pattern = 0; pattern < 2; pattern++) {
        fill(pattern);
        /* xsaveopt leaves out what was last restored from the same memory. */
        restore(other, 1);
        use(which);
        save(form, mask);
        if (form != ALL)
            restore(area, mask);
        if (tiles)
            release();
        look(seen[pattern]);
    }
    return memcmp(seen[0] + HEADER, seen[1] + HEADER, HEADER_END - HEADER) == 0;
}

static void
one(int which, enum form form, uint32_t mask)
{
    say("Store", ATTEMPT, BYTES);
    while (!attempt(which, form, mask)) {
        length += (size_t)sprintf(said + length, "void\n");
        say("Store", ATTEMPT, BYTES);
    }
    for (int pattern = 0; pattern < 2; pattern++) {
        say_all(form, 0);
        if (form != ALL)
            say_all(form, 1);
    }
}

static void
make_files(void)
{
    static uint8_t bytes[BYTES];
    for (int i = 0; i < 3; i++) {
        memset(bytes, i == 0 ? 0x5a : 0xa5, sizeof(bytes));
        memset(bytes + HEADER, 0, HEADER_END - HEADER);
        files[i] = memfd_create("bytes", 0);
        if (pwrite(files[i], bytes, BYTES, 0) != BYTES)
            _exit(3);
    }
}

int
main(void)
{
    static const uint32_t masks[] = { 1, 2, 4, 6, 7, 0xe0, 0xe7, 0xee, 0x2e7, 0x60000, 0x602e7 };
    unsigned int a, b, c, d;
    if (!__get_cpuid_count(13, 1, &a, &b, &c, &d) || (a & 3) != 3 || !__builtin_cpu_supports("avx"))
        return 77;
    tiles = arch_prctl(REQUEST, TILES) == 0;
    for (int i = 0; i < 1024; i++)
        rows[i] = (uint8_t)(i * 7);
    make_files();
    for (int which = 0; which < (tiles ? 4 : 2); which++) {
        for (size_t i = 0; i < sizeof(masks) / sizeof(*masks) - (tiles ? 0 : 2); i++) {
            for (int form = ALL; form <= COMPACTED; form++)
                one(which, (enum form)form, masks[i]);
        }
    }
    printf("area %lu\n%s", (unsigned long)area, said);
    return 0;
}
