/* What the tests need. */
#define _GNU_SOURCE
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *const type_names[4] = {"WB", "WT", "WC", "UC"};

void say(const char *format, ...)
{
    va_list arguments;

    printf("TEST ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
}

const char *outcome(long answer)
{
    return answer == -1 ? strerrorname_np(errno) : "done";
}

void need(int holds, const char *what)
{
    if (holds)
        return;
    say("broken: %s: %s", what, strerror(errno));
    sync();
    reboot(RB_POWER_OFF);
    _exit(1);
}

int load(const char *module, const char *parameters)
{
    int fd = open(module, O_RDONLY | O_CLOEXEC);
    int answer;

    need(fd >= 0, module);
    answer = (int)syscall(SYS_finit_module, fd, parameters, 0);
    close(fd);
    return answer;
}

int unload(const char *name)
{
    return (int)syscall(SYS_delete_module, name, O_NONBLOCK);
}

int device(void)
{
    int fd = open("/dev/prestore", O_RDWR | O_CLOEXEC);

    need(fd >= 0, "/dev/prestore");
    return fd;
}

int allocate(int fd, uint32_t type, uint64_t bytes)
{
    struct prestore_dev_alloc want = {.type = type, .bytes = bytes};

    return ioctl(fd, PRESTORE_DEV_ALLOC, &want);
}

unsigned char *memory(int *fd, uint32_t type, size_t bytes)
{
    void *address;

    *fd = device();
    need(allocate(*fd, type, bytes) == 0, "ALLOC");
    address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    need(address != MAP_FAILED, "mmap");
    return address;
}

struct prestore_dev_info info(void)
{
    struct prestore_dev_info info;
    int fd = device();

    need(ioctl(fd, PRESTORE_DEV_INFO, &info) == 0, "INFO");
    close(fd);
    return info;
}

uint64_t used_at_last(uint64_t expected)
{
    uint64_t used = info().used;

    for (int wait = 0; used != expected && wait < 1000; wait++) {
        usleep(10000);
        used = info().used;
    }
    return used;
}

static void ask(const char *file, unsigned long number, char *answer, size_t size)
{
    int fd = open(file, O_RDWR | O_CLOEXEC);
    ssize_t length;

    need(fd >= 0, file);
    need(dprintf(fd, "0x%lx", number) > 0, file);
    length = pread(fd, answer, size - 1, 0);
    need(length > 0, file);
    answer[length - 1] = 0;
    close(fd);
}

unsigned long probe(const void *address, char types[static 16])
{
    char answer[64];
    char *last;

    ask("/proc/prestore_probe", (unsigned long)address, answer, sizeof answer);
    last = strrchr(answer, ' ');
    *last = 0;
    strcpy(types, answer);
    return strtoul(last + 1, NULL, 10);
}

void probe_direct(unsigned long page, char type[static 16])
{
    char answer[64];

    ask("/proc/prestore_direct", page, answer, sizeof answer);
    strcpy(type, answer);
}
