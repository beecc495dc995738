/* Each type: what the page tables say, that it is memory, that it goes back as it came. */
#include "guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* More than one of the large pieces that pages are taken in, and some single pages. */
enum { PAGES = 512 + 37, BYTES = PAGES * PAGE };

static unsigned long pages[PAGES];

/* Whether the kernel's list of types of what is not memory has the page. */
static int listed(unsigned long page)
{
    FILE *list = fopen("/sys/kernel/debug/x86/pat_memtype_list", "r");
    unsigned long from, to;
    char line[256];
    int found = 0;

    if (!list)
        return 0;
    while (fgets(line, sizeof line, list))
        if (sscanf(line, "PAT: [mem 0x%lx-0x%lx]", &from, &to) == 2)
            found |= from <= page * PAGE && page * PAGE < to;
    fclose(list);
    return found;
}

static void of(uint32_t type)
{
    const char *name = type_names[type];
    char first[16], types[16];
    unsigned char *bytes;
    int fd, differing = 0, dirty = 0, wrong = 0, in_list = 0, not_back = 0;

    bytes = memory(&fd, type, BYTES);
    for (size_t at = 0; at < BYTES; at++)
        dirty += bytes[at] != 0;
    for (int page = 0; page < PAGES; page++) {
        pages[page] = probe(bytes + page * PAGE, page ? types : first);
        differing += page && strcmp(first, types) != 0;
        in_list += listed(pages[page]);
    }
    say("%s entries: %s, %d others", name, first, differing);
    say("%s memtype list: %d pages", name, in_list);
    say("%s new: %d bytes not zero, %lu used", name, dirty, (unsigned long)info().used);

    for (size_t at = 0; at < BYTES / 8; at++)
        ((uint64_t *)bytes)[at] = at * 0x9e3779b97f4a7c15u;
    __sync_synchronize();
    for (size_t at = 0; at < BYTES / 8; at++)
        wrong += ((volatile uint64_t *)bytes)[at] != at * 0x9e3779b97f4a7c15u;
    say("%s memory: %d words wrong", name, wrong);

    /* A change of rights keeps the type, as does a move. */
    need(mprotect(bytes, PAGE, PROT_READ) == 0 && mprotect(bytes, PAGE, PROT_READ | PROT_WRITE) == 0, "mprotect");
    bytes[0] = 1;
    probe(bytes, types);
    say("%s after mprotect: %s", name, types);

    need(munmap(bytes, BYTES) == 0, "munmap");
    say("%s unmapped, file open: %lu used", name, (unsigned long)used_at_last(BYTES));
    close(fd);
    say("%s closed: %lu used", name, (unsigned long)used_at_last(0));
    for (int page = 0; page < PAGES; page++) {
        probe_direct(pages[page], types);
        not_back += strcmp(types, "WB") != 0;
    }
    say("%s given back: %d pages not WB", name, not_back);
}

void test_types(void)
{
    const struct prestore_dev_info all = info();

    say("info: version %u, types %x, %lu used", all.version, all.types, (unsigned long)all.used);
    for (uint32_t type = PRESTORE_DEV_WB; type <= PRESTORE_DEV_UC; type++) {
        if (all.types & 1u << type) {
            of(type);
        } else {
            int fd = device();
            say("%s refused: %s", type_names[type], outcome(allocate(fd, type, PAGE)));
            close(fd);
        }
    }
}
