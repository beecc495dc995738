#include "userfault.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "bytes.h"
#include "present.h"

#define PAGE 4096ull

/* From here on each read of memory is asked about first. Not by ranges: another process, to which the descriptor was sent, may
 * register them. */
static volatile bool used;

static void
there(uint64 begin, uint64 end, void *of)
{
    (void)begin, (void)end, (void)of;
}

static void
missing(uint64 begin, uint64 end, void *of)
{
    (void)begin, (void)end;
    *(bool *)of = true;
}

bool
userfault_may_wait(uint64 at, uint64 bytes)
{
    uint64 begin = at & ~(PAGE - 1), end = (at + bytes + PAGE - 1) & ~(PAGE - 1);
    bool waits = false;
    if (!used || bytes == 0)
        return false;
    return !present_parts(begin, end, there, missing, &waits) || waits;
}

static void
known(uint64 begin, uint64 end, void *drcontext)
{
    (void)begin, (void)end, (void)drcontext;
}

/* What will be there is not: the kernel tells no order between who fills a page and who waited for it, so that what was filled in
 * would be taken for newer than what was stored there. */
static void
unknown(uint64 begin, uint64 end, void *drcontext)
{
    bytes_range(drcontext, BYTES_UNKNOWN, begin, end - begin);
}

static void
registered(void *drcontext, uint64 argument)
{
    struct uffdio_register arg;
    size_t got;
    if (!dr_safe_read((const void *)argument, sizeof(arg), &arg, &got) || got != sizeof(arg))
        return;
    uint64 begin = arg.range.start, end = begin + arg.range.len;
    if (!present_parts(begin, end, known, unknown, drcontext))
        unknown(begin, end, drcontext);
}

void
userfault_behind(void *drcontext, int number, const uint64 args[6], uint64 result)
{
    if (result >= (uint64)-4095)
        return;
    if (number == SYS_userfaultfd || (number == SYS_ioctl && (uint)args[1] == USERFAULTFD_IOC_NEW))
        used = true;
    if (number != SYS_ioctl || (uint)args[1] != UFFDIO_REGISTER)
        return;
    used = true;
    registered(drcontext, args[2]);
}
