/* Ends of the memory's and the module's life. */
#define _GNU_SOURCE
#include "guest.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static void unloading(void)
{
    int fd;
    unsigned char *bytes = memory(&fd, PRESTORE_DEV_UC, PAGE);

    say("unload while mapped and open: %s", outcome(unload("prestore")));
    close(fd);
    say("unload while mapped: %s", outcome(unload("prestore")));
    bytes[0] = 9;
    say("still memory: %d", bytes[0]);
    munmap(bytes, PAGE);
    fd = device();
    say("unload while open: %s", outcome(unload("prestore")));
    close(fd);
    used_at_last(0);
    /* The last file ends a moment after the call that closes it. */
    int answer = unload("prestore");
    for (int wait = 0; answer != 0 && errno == EWOULDBLOCK && wait < 100; wait++) {
        usleep(10000);
        answer = unload("prestore");
    }
    say("unload: %s", outcome(answer));
    say("device: %s", outcome(access("/dev/prestore", F_OK)));
}

static void limited(void)
{
    int one, other;

    say("load with a limit: %s", outcome(load("/prestore.ko", "max_mib=2")));
    say("limit: %lu", (unsigned long)info().limit);
    unsigned char *bytes = memory(&one, PRESTORE_DEV_UC, 1 << 20);
    other = device();
    say("beyond what is left: %s", outcome(allocate(other, PRESTORE_DEV_UC, (1 << 20) + PAGE)));
    say("what is left: %s", outcome(allocate(other, PRESTORE_DEV_UC, 1 << 20)));
    close(other);
    say("limit: %lu used", (unsigned long)used_at_last(1 << 20));

    /* Parts of a mapping may go; the memory stays until all has. */
    munmap(bytes, (1 << 20) - PAGE);
    close(one);
    bytes[(1 << 20) - 1] = 5;
    say("a part unmapped: %lu used", (unsigned long)used_at_last(1 << 20));
    munmap(bytes + (1 << 20) - PAGE, PAGE);
    say("all parts unmapped: %lu used", (unsigned long)used_at_last(0));
}

/* All of the memory and more: an error, and nobody is killed for it. */
static void exhausted(void)
{
    int fd;

    while (unload("prestore") != 0)
        usleep(10000);
    need(load("/prestore.ko", "max_mib=1000000") == 0, "prestore.ko");
    fd = device();
    say("all memory: %s", outcome(allocate(fd, PRESTORE_DEV_UC, info().limit)));
    say("all memory: %lu used", (unsigned long)used_at_last(0));
    close(fd);
}

void test_ends(void)
{
    unloading();
    limited();
    exhausted();
}
