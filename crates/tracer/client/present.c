#include "present.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ull
#define AT_ONCE 512

/* Linux 6.7's, by which the kernel leaves out what is empty at once: a sanitizer's shadow is 16 TB. */
struct scan {
    uint64 size, flags, start, end, walk_end, vec, vec_len, max_pages, inverted, mask, any_of, returned;
};
struct region {
    uint64 begin, end, categories;
};
#define SCAN _IOWR('f', 16, struct scan)
#define SCAN_PRESENT (1ull << 3)
#define SCAN_SWAPPED (1ull << 4)

/* The file's own bits, of each page. */
#define PRESENT (1ull << 63)
#define SWAPPED (1ull << 62)

typedef struct {
    present_part_t each, none;
    void *of;
    /* Up to where all has been told. */
    uint64 told;
} teller_t;

static void
tell(teller_t *teller, uint64 begin, uint64 end)
{
    if (teller->told < begin)
        teller->none(teller->told, begin, teller->of);
    teller->each(begin, end, teller->of);
    teller->told = end;
}

static bool
scanned(file_t file, uint64 begin, uint64 end, teller_t *teller)
{
    struct region found[16];
    struct scan scan = { .size = sizeof(scan), .start = begin, .end = end, .vec = (uint64)found, .vec_len = 16,
                         .any_of = SCAN_PRESENT | SCAN_SWAPPED, .returned = SCAN_PRESENT | SCAN_SWAPPED };
    while (scan.start < end) {
        long n = syscall(SYS_ioctl, file, SCAN, &scan);
        if (n < 0)
            /* What was told stays told: all that is left may hold something. */
            return scan.start > begin ? tell(teller, scan.start, end), true : false;
        for (long i = 0; i < n; i++)
            tell(teller, found[i].begin, found[i].end);
        scan.start = scan.walk_end;
    }
    return true;
}

static bool
looked_up(file_t file, uint64 begin, uint64 end, teller_t *teller)
{
    uint64 entries[AT_ONCE];
    for (uint64 at = begin; at < end;) {
        uint64 pages = (end - at) / PAGE < AT_ONCE ? (end - at) / PAGE : AT_ONCE;
        long got = syscall(SYS_pread64, file, entries, pages * sizeof(uint64), at / PAGE * sizeof(uint64));
        if (got < (long)sizeof(uint64))
            return at > begin ? tell(teller, at, end), true : false;
        for (uint64 i = 0; i < (uint64)got / sizeof(uint64); i++, at += PAGE) {
            if ((entries[i] & (PRESENT | SWAPPED)) != 0)
                tell(teller, at, at + PAGE);
        }
    }
    return true;
}

bool
present_parts(uint64 begin, uint64 end, present_part_t each, present_part_t none, void *of)
{
    teller_t teller = { each, none, of, begin };
    file_t file = dr_open_file("/proc/self/pagemap", DR_FILE_READ);
    if (file < 0)
        return false;
    bool known = scanned(file, begin, end, &teller) || looked_up(file, begin, end, &teller);
    dr_close_file(file);
    if (known && teller.told < end)
        none(teller.told, end, of);
    return known;
}
