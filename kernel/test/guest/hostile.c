/* Arguments that no honest program gives: each has its error. */
#define _GNU_SOURCE
#include "guest.h"

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BYTES = 8 * PAGE };

static void ask(const char *what, struct prestore_dev_alloc want)
{
    int fd = device();

    say("request %s: %s", what, outcome(ioctl(fd, PRESTORE_DEV_ALLOC, &want)));
    close(fd);
}

static void point(const char *what, const void *where)
{
    int fd = device();

    say("request %s: %s", what, outcome(ioctl(fd, PRESTORE_DEV_ALLOC, where)));
    close(fd);
}

void test_hostile_requests(void)
{
    const uint64_t limit = info().limit;
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct prestore_dev_alloc want = {.bytes = PAGE};
    int fd;

    ask("0 bytes", (struct prestore_dev_alloc){.bytes = 0});
    ask("less than a page", (struct prestore_dev_alloc){.bytes = PAGE - 1});
    ask("a page and a byte", (struct prestore_dev_alloc){.bytes = PAGE + 1});
    ask("beyond the limit", (struct prestore_dev_alloc){.bytes = limit + PAGE});
    ask("2^62 bytes", (struct prestore_dev_alloc){.bytes = 1ull << 62, .type = PRESTORE_DEV_UC});
    ask("2^63 bytes", (struct prestore_dev_alloc){.bytes = 1ull << 63});
    ask("2^64 bytes less a page", (struct prestore_dev_alloc){.bytes = -(uint64_t)PAGE});
    ask("2^64 bytes less one", (struct prestore_dev_alloc){.bytes = -1});
    ask("type 4", (struct prestore_dev_alloc){.bytes = PAGE, .type = 4});
    ask("type 32", (struct prestore_dev_alloc){.bytes = PAGE, .type = 32});
    ask("type 2^32 less one", (struct prestore_dev_alloc){.bytes = PAGE, .type = -1});
    ask("flags", (struct prestore_dev_alloc){.bytes = PAGE, .flags = 1});
    ask("reserved", (struct prestore_dev_alloc){.bytes = PAGE, .reserved = 1});

    point("NULL", NULL);
    point("a kernel's address", (void *)0xffff888000000000);
    point("no canonical address", (void *)0x8000000000000000);
    need(pages != MAP_FAILED && munmap(pages + PAGE, PAGE) == 0, "pages");
    memset(pages, 0, PAGE);
    memcpy(pages + PAGE - 16, &want, 16);
    point("a structure cut by the end of memory", pages + PAGE - 16);

    fd = device();
    need(mprotect(pages, PAGE, PROT_READ) == 0, "mprotect");
    say("request info into read-only memory: %s", outcome(ioctl(fd, PRESTORE_DEV_INFO, pages)));
    say("request info into nothing: %s", outcome(ioctl(fd, PRESTORE_DEV_INFO, NULL)));
    say("request short structure: %s", outcome(ioctl(fd, _IOW('P', 0xe0, char[16]), &want)));
    say("request long structure: %s", outcome(ioctl(fd, _IOW('P', 0xe0, char[32]), pages)));
    say("request unknown: %s", outcome(ioctl(fd, _IO('P', 0xef), 0)));
    say("request all bits: %s", outcome(ioctl(fd, ~0ul, 0)));
    say("request read: %s", outcome(read(fd, &want, sizeof want)));
    say("request write: %s", outcome(write(fd, &want, sizeof want)));
    need(allocate(fd, PRESTORE_DEV_UC, PAGE) == 0, "ALLOC");
    say("request twice: %s", outcome(allocate(fd, PRESTORE_DEV_UC, PAGE)));
    close(fd);
    munmap(pages, PAGE);
    say("requests: %lu used at last", (unsigned long)used_at_last(0));
}

static void map(const char *what, int fd, size_t bytes, int rights, int flags, uint64_t offset)
{
    /* The system call itself, which takes any offset. */
    long address = syscall(SYS_mmap, NULL, bytes, rights, flags, fd, offset);

    say("mapping %s: %s", what, outcome(address));
    if (address != -1)
        munmap((void *)address, bytes);
}

static void of(uint32_t type)
{
    const int both = PROT_READ | PROT_WRITE;
    const char *name = type_names[type];
    char buffer[PAGE], types[16];
    unsigned char *bytes;
    int fd, ends[2];

    bytes = memory(&fd, type, BYTES);
    bytes[0] = 3;
    say("mapping %s made executable: %s", name, outcome(mprotect(bytes, PAGE, PROT_READ | PROT_EXEC)));
    say("mapping %s grown: %s", name, outcome((long)mremap(bytes, BYTES, 2 * BYTES, MREMAP_MAYMOVE)));
    say("mapping %s doubled: %s", name, outcome((long)mremap(bytes, 0, BYTES, MREMAP_MAYMOVE)));
    say("mapping %s dropped: %s", name, outcome(madvise(bytes, BYTES, MADV_DONTNEED)));
    say("mapping %s pinned: %s", name,
        outcome(process_vm_readv(getpid(), &(struct iovec){buffer, PAGE}, 1, &(struct iovec){bytes, PAGE}, 1, 0)));
    need(pipe(ends) == 0, "pipe");
    const char *written = outcome(write(ends[1], bytes, 16));
    need(read(ends[0], buffer, 16) == 16, "read");
    say("mapping %s written to a pipe: %s, byte %d", name, written, buffer[0]);
    close(ends[0]);
    close(ends[1]);

    unsigned char *elsewhere = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *moved = mremap(bytes, BYTES, BYTES - PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere);
    need(moved == elsewhere, "mremap");
    probe(moved, types);
    say("mapping %s moved and shrunk: %s, byte %d", name, types, moved[0]);
    munmap(moved, BYTES);
    map(name, fd, BYTES, both, MAP_SHARED, 0);
    close(fd);
}

void test_hostile_mappings(void)
{
    const int both = PROT_READ | PROT_WRITE;
    const uint32_t types = info().types;
    int fd = device();

    map("without memory", fd, PAGE, both, MAP_SHARED, 0);
    need(allocate(fd, PRESTORE_DEV_UC, BYTES) == 0, "ALLOC");
    map("private", fd, PAGE, both, MAP_PRIVATE, 0);
    map("private, to read", fd, PAGE, PROT_READ, MAP_PRIVATE, 0);
    map("executable", fd, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, 0);
    map("of 0 bytes", fd, 0, both, MAP_SHARED, 0);
    map("longer", fd, BYTES + PAGE, both, MAP_SHARED, 0);
    map("longer by a byte", fd, BYTES + 1, both, MAP_SHARED, 0);
    map("behind", fd, PAGE, both, MAP_SHARED, BYTES);
    map("over the end", fd, 2 * PAGE, both, MAP_SHARED, BYTES - PAGE);
    map("at no page", fd, PAGE, both, MAP_SHARED, 100);
    map("at 2^62", fd, PAGE, both, MAP_SHARED, 1ull << 62);
    map("at 2^64 less a page", fd, PAGE, both, MAP_SHARED, -(uint64_t)PAGE);
    map("around 2^64", fd, 2 * PAGE, both, MAP_SHARED, -(uint64_t)PAGE);
    map("of the last page", fd, PAGE, both, MAP_SHARED, BYTES - PAGE);
    map("hugely", fd, 1ul << 46, both, MAP_SHARED, 0);
    close(fd);

    fd = open("/dev/prestore", O_RDONLY | O_CLOEXEC);
    need(allocate(fd, PRESTORE_DEV_UC, BYTES) == 0, "ALLOC");
    map("to write, opened to read", fd, PAGE, both, MAP_SHARED, 0);
    map("to read, opened to read", fd, PAGE, PROT_READ, MAP_SHARED, 0);
    close(fd);

    for (uint32_t type = PRESTORE_DEV_WB; type <= PRESTORE_DEV_UC; type++)
        if (types & 1u << type)
            of(type);
    say("mappings: %lu used at last", (unsigned long)used_at_last(0));
}
