/* Loads and stores of tiles in all their forms: says which memory each is to touch. `loop N` multiplies N times, `probe` only ends
 * with 77 where there are no tiles. */
#include <stdio.h>
#include <stdlib.h>

#include "tiles.h"

static uint8_t area[65536] __attribute__((aligned(4096)));
static char said[16384];
static size_t length;

/* Of rows as `config` has them, from `row` on. */
static void
say(const char *kind, const struct config *c, int tile, int row, long at, long stride)
{
    int bytes = c->row_bytes[tile], rows = c->rows[tile];
    if (stride == bytes)
        length += (size_t)sprintf(said + length, "%s %ld %d\n", kind, at + row * stride, (rows - row) * bytes);
    for (; stride != bytes && row < rows; row++)
        length += (size_t)sprintf(said + length, "%s %ld %d\n", kind, at + row * stride, bytes);
}

static void
say_whole(const char *kind, long at)
{
    length += (size_t)sprintf(said + length, "%s %ld 64\n", kind, at);
}

static struct config
shapes(int other)
{
    struct config c;
    memset(&c, 0, sizeof(c));
    c.palette = 1;
    for (int i = 0; i < 8; i++) {
        c.row_bytes[i] = (uint16_t)(other ? 4 * (i + 1) : i == 0 ? 64 : 60 - 4 * i);
        c.rows[i] = (uint8_t)(other ? i + 3 : i == 0 ? 16 : 2 * i);
    }
    return c;
}

static int
multiply(long times)
{
    static int8_t a[1024], b[1024];
    static int32_t out[256];
    for (int i = 0; i < 1024; i++) {
        a[i] = (int8_t)(i * 7 + 3);
        b[i] = (int8_t)(i * 5 - 1);
    }
    configure();
    __asm__ volatile("1:\n\tmov %1, %%rax\n\t.byte 0xc4, 0xe2, 0x7b, 0x49, 0xc8\n\t" /* tilezero tmm1 */
                     LOAD(2) "mov %2, %%rax\n\t" LOAD(3) MULTIPLY_2_BY_3 "mov %3, %%rax\n\t" STORE(1)
                     "dec %0\n\tjnz 1b"
                     : "+r"(times)
                     : "r"(a), "r"(b), "r"(out), "c"(64L)
                     : "rax", "memory", "cc");
    release();
    for (int i = 0; i < 16; i++) {
        for (int j = 0; j < 16; j++) {
            int32_t s = 0;
            for (int k = 0; k < 64; k++)
                s += a[i * 64 + k] * b[(k / 4) * 64 + j * 4 + k % 4];
            if (s != out[i * 16 + j])
                return puts("wrong"), 1;
        }
    }
    return puts("right"), 0;
}

int
main(int argc, char **argv)
{
    if (arch_prctl(REQUEST, TILES) != 0)
        return 77;
    if (argc > 1 && strcmp(argv[1], "probe") == 0)
        return 0;
    if (argc > 2)
        return multiply(atol(argv[2]));
    /* By the kernel, so that all other accesses are those of tiles. */
    if (syscall(SYS_getrandom, area, sizeof(area), 0) != sizeof(area))
        return 3;
    struct config c = shapes(0), d = shapes(1);
    load_config(&c);
    tile_load(1, area + 100, 256);
    say("Load", &c, 1, 0, 100, 256);
    tile_load_once(2, area + 200, 64);
    say("Load", &c, 2, 0, 200, 64);
    tile_load(0, area + 4096, 64); /* in one piece */
    say("Load", &c, 0, 0, 4096, 64);
    tile_load(3, area + 2048, -52);
    say("Load", &c, 3, 0, 2048, -52);
    /* tmm2, 64(%rax, %rcx, 4) */
    __asm__ volatile(".byte 0xc4, 0xe2, 0x7b, 0x4b, 0x54, 0x88, 0x40" : : "a"(area), "c"(32L) : "memory");
    say("Load", &c, 2, 0, 64, 128);
    /* tmm3, 4096(%r9, %r10), by another value of the same register twice in a block */
    __asm__ volatile("mov %0, %%r9\n\tmov $80, %%r10\n\t.byte 0xc4, 0x82, 0x7b, 0x4b, 0x9c, 0x11, 0, 16, 0, 0\n\t"
                     "add $16, %%r10\n\t.byte 0xc4, 0x82, 0x7b, 0x4b, 0x9c, 0x11, 0, 16, 0, 0"
                     :
                     : "r"(area)
                     : "r9", "r10", "memory", "cc");
    say("Load", &c, 3, 0, 4096, 80);
    say("Load", &c, 3, 0, 4096, 96);
    /* tmm4, 16(%rax): all rows are one */
    __asm__ volatile(".byte 0xc4, 0xe2, 0x7b, 0x4b, 0x64, 0x20, 0x10" : : "a"(area) : "memory");
    say("Load", &c, 4, 0, 16, 0);
    /* tmm1 by GS, which has no base, and by FS, where a register holds the distance */
    __asm__ volatile(".byte 0x65, 0xc4, 0xe2, 0x7b, 0x4b, 0x4c, 0x08, 0x40" : : "a"(area), "c"(72L) : "memory");
    say("Load", &c, 1, 0, 64, 72);
    __asm__ volatile("mov %%fs:0, %%rdx\n\tmov %%rsi, %%rax\n\tsub %%rdx, %%rax\n\t"
                     ".byte 0x64, 0xc4, 0xe2, 0x7b, 0x4b, 0x4c, 0x88, 0x40\n\t"
                     "mov %%rax, %%r9\n\tmov %%rcx, %%r10\n\t.byte 0x64, 0xc4, 0x82, 0x7a, 0x4b, 0x8c, 0x11, 0, 32, 0, 0\n\t"
                     ".byte 0x64, 0xc4, 0xe2, 0x7b, 0x4b, 0x64, 0x20, 0x10"
                     :
                     : "S"(area), "c"(24L)
                     : "rax", "rdx", "r9", "r10", "memory", "cc");
    say("Load", &c, 1, 0, 64, 96);
    say("Store", &c, 1, 0, 8192, 24);
    say("Load", &c, 4, 0, 16, 0);
    tile_store(0, area + 8192, 128);
    say("Store", &c, 0, 0, 8192, 128);
    tile_store(1, area + 12000, 56);
    say("Store", &c, 1, 0, 12000, 56);
    /* Another configuration, in the middle of a block; it comes from the area and goes there. */
    __asm__ volatile(".byte 0xc4, 0xe2, 0x79, 0x49, 0x00\n\t" /* sttilecfg (%rax) */
                     LOAD(5) ".byte 0xc4, 0xe2, 0x78, 0x49, 0x02\n\t" /* ldtilecfg (%rdx) */
                     LOAD(5) STORE(6)
                     :
                     : "a"(area + 20480), "c"(96L), "d"(&d), "m"(d)
                     : "memory");
    say_whole("Store", 20480);
    say("Load", &c, 5, 0, 20480, 96);
    say("Load", &d, 5, 0, 20480, 96);
    say("Store", &d, 6, 0, 20480, 96);
    /* What an interrupted one has left to do. */
    d.start_row = 2;
    load_config(&d);
    tile_load(4, area + 30000, 512);
    say("Load", &d, 4, 2, 30000, 512);
    release();
    printf("area %lu\n%s", (unsigned long)area, said);
    return 0;
}
