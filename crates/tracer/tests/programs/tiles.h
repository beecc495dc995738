/* Tiles (AMX), by their bytes: not every assembler knows them. Registers are fixed: the address in rax, the stride in rcx. */
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GET_SUPPORTED 0x1021
#define GET_PERMITTED 0x1022
#define REQUEST 0x1023
#define TILES 18

struct config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

/* ModRM and SIB of (rax, rcx) and of (rax). */
#define LOAD(tile) ".byte 0xc4, 0xe2, 0x7b, 0x4b, 0x04 + 8 * " #tile ", 0x08\n\t"
#define LOAD_ONCE(tile) ".byte 0xc4, 0xe2, 0x79, 0x4b, 0x04 + 8 * " #tile ", 0x08\n\t"
#define STORE(tile) ".byte 0xc4, 0xe2, 0x7a, 0x4b, 0x04 + 8 * " #tile ", 0x08\n\t"
#define MULTIPLY_2_BY_3 ".byte 0xc4, 0xe2, 0x63, 0x5e, 0xca\n\t" /* tdpbssd tmm1, tmm2, tmm3 */

static inline void
load_config(const struct config *c)
{
    __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0x00" : : "a"(c), "m"(*c));
}

static inline void
store_config(struct config *c)
{
    __asm__ volatile(".byte 0xc4, 0xe2, 0x79, 0x49, 0x00" : "=m"(*c) : "a"(c));
}

static inline void
release(void)
{
    __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0xc0");
}

#define tile_load(tile, from, stride) \
    __asm__ volatile(LOAD(tile) : : "a"(from), "c"((long)(stride)) : "memory")
#define tile_load_once(tile, from, stride) \
    __asm__ volatile(LOAD_ONCE(tile) : : "a"(from), "c"((long)(stride)) : "memory")
#define tile_store(tile, to, stride) \
    __asm__ volatile(STORE(tile) : : "a"(to), "c"((long)(stride)) : "memory")
#define tile_zero(tile) __asm__ volatile(".byte 0xc4, 0xe2, 0x7b, 0x49, 0xc0 + 8 * " #tile)
#define tile_multiply() __asm__ volatile(MULTIPLY_2_BY_3)

/* All eight tiles of 16 rows of 64 bytes. */
static inline void
configure(void)
{
    struct config c;
    memset(&c, 0, sizeof(c));
    c.palette = 1;
    for (int i = 0; i < 8; i++) {
        c.row_bytes[i] = 64;
        c.rows[i] = 16;
    }
    load_config(&c);
}

static inline long
arch_prctl(int code, unsigned long value)
{
    return syscall(SYS_arch_prctl, code, value);
}

static inline unsigned long
permitted(void)
{
    unsigned long features = 0;
    arch_prctl(GET_PERMITTED, (unsigned long)&features);
    return features;
}

static inline uint64_t
sum(const void *bytes, unsigned long n)
{
    const uint8_t *p = bytes;
    uint64_t h = 14695981039346656037ull;
    while (n-- > 0)
        h = (h ^ *p++) * 1099511628211ull;
    return h;
}
