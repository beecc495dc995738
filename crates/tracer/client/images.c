#define _GNU_SOURCE
#include "images.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bytes.h"
#include "environment.h"
#include "present.h"
#include "proc_maps.h"
#include "userfault.h"

#define PAGE 4096ull
/* A limit above it is none. */
#define MAX_STACK (1ull << 30)
#define TO_PAGE(n) (((n) + PAGE - 1) & ~(PAGE - 1))

static void
image(uint64 begin, uint64 end, void *drcontext)
{
    bytes_now(drcontext, BYTES_IMAGE, begin, end - begin);
}

static void
untouched(uint64 begin, uint64 end, void *drcontext)
{
    bytes_range(drcontext, BYTES_IMAGE, begin, end - begin);
}

/* Reading what nobody has touched would take time without end, of a sanitizer's 16 TB. */
static void
image_of(uint64 begin, uint64 end, bool file, void *drcontext)
{
    if (file || !present_parts(begin, end, image, untouched, drcontext))
        image(begin, end, drcontext);
}

/* Reading what nobody has touched takes a second a gigabyte. Of more than this the kernel is asked what there is, which takes about as long
 * as reading this much does in a process of a thousand mappings. */
#define FEW (1ull << 20)

/* Of a range that may be of any size. */
static void
images_of(uint64 begin, uint64 end, void *drcontext)
{
    bool few = end - begin <= FEW || userfault_may_wait(begin, end - begin);
    if (few || !proc_maps_each_part(begin, end, image_of, drcontext))
        image(begin, end, drcontext);
}

/* Below the first thread's stack, where it grows to. */
static void
stack_room(uint64 begin, uint64 end, bool file, void *drcontext)
{
    struct rlimit limit;
    uint64 sp = (uint64)environment_argv();
    if (sp < begin || sp >= end || getrlimit(RLIMIT_STACK, &limit) != 0 ||
        limit.rlim_cur > MAX_STACK || end - begin >= limit.rlim_cur)
        return;
    bytes_range(drcontext, BYTES_IMAGE, end - limit.rlim_cur, begin - (end - limit.rlim_cur));
}

void
images_process(void *drcontext)
{
    proc_maps_each_writable(stack_room, drcontext);
    proc_maps_each_writable(image_of, drcontext);
}

static void
without_writable(uint64 begin, uint64 end, bool file, void *of)
{
    images_t *images = of;
    (void)file;
    if (begin <= images->begin && images->begin < end)
        images->begin = end;
    if (begin < images->end && images->end <= end)
        images->end = begin;
}

/* From the first to the last byte of a range that is mapped and not writable. The engine looks into what it is asked about, so where
 * that may wait the kernel's list is read. */
static void
unwritable(uint64 begin, uint64 end, images_t *images)
{
    dr_mem_info_t info;
    if (userfault_may_wait(begin, end - begin)) {
        images->begin = begin;
        images->end = end;
        proc_maps_each_writable(without_writable, images);
        if (images->begin >= images->end)
            images->end = 0;
        return;
    }
    images->begin = images->end = 0;
    for (uint64 at = begin; at < end;) {
        if (!dr_query_memory_ex((const byte *)at, &info) || info.size == 0)
            break;
        uint64 to = (uint64)info.base_pc + info.size;
        to = to < end ? to : end;
        if (info.type != DR_MEMTYPE_FREE && (info.prot & DR_MEMPROT_WRITE) == 0) {
            images->begin = images->end == 0 ? at : images->begin;
            images->end = to;
        }
        at = to;
    }
}

/* Through the file, so that holes stay holes. */
static void
of_file(void *drcontext, uint64 address, uint64 bytes, int fd, uint64 offset)
{
    struct stat file;
    byte page[PAGE];
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) {
        /* A device, or a ring that the kernel writes to when it likes. */
        bytes_range(drcontext, BYTES_UNKNOWN, address, TO_PAGE(bytes));
        return;
    }
    uint64 zeros = address;
    for (uint64 at = 0; at < bytes; at += PAGE) {
        long got = syscall(SYS_pread64, fd, page, PAGE, offset + at);
        size_t n = got > 0 ? (size_t)got : 0;
        while (n > 0 && page[n - 1] == 0)
            n--;
        if (n == 0)
            continue;
        if (zeros < address + at)
            bytes_range(drcontext, BYTES_IMAGE, zeros, address + at - zeros);
        memset(page + n, 0, PAGE - n);
        bytes_are(drcontext, BYTES_IMAGE, address + at, page, PAGE);
        zeros = address + at + PAGE;
    }
    if (zeros < address + TO_PAGE(bytes))
        bytes_range(drcontext, BYTES_IMAGE, zeros, address + TO_PAGE(bytes) - zeros);
}

static void
mapped(void *drcontext, uint64 address, const uint64 args[6])
{
    if ((args[3] & MAP_ANONYMOUS) != 0)
        bytes_range(drcontext, BYTES_IMAGE, address, TO_PAGE(args[1]));
    /* Others may become writable (mprotect). */
    else if ((args[2] & PROT_WRITE) != 0)
        of_file(drcontext, address, args[1], (int)args[4], args[5]);
}

static void
moved(void *drcontext, const uint64 args[6], uint64 result)
{
    uint64 old = TO_PAGE(args[1]), new = TO_PAGE(args[2]), kept = old < new ? old : new;
    if (result != args[0] && kept > 0)
        bytes_moved(drcontext, args[0], result, kept);
    if (result != args[0] && old > 0 && (args[3] & MREMAP_DONTUNMAP) == 0)
        bytes_range(drcontext, BYTES_GONE, args[0], old);
    else if (new < old)
        bytes_range(drcontext, BYTES_GONE, args[0] + new, old - new);
    if (new > old)
        images_of(result + old, result + new, drcontext);
}

static uint64 program_break;

static void
heap_grew(void *drcontext, uint64 result)
{
    uint64 before = program_break;
    program_break = result;
    if (before == 0 || result == before)
        return;
    if (result < before)
        bytes_range(drcontext, BYTES_GONE, TO_PAGE(result), TO_PAGE(before) - TO_PAGE(result));
    else
        /* What was given back before is still in its page. */
        bytes_now(drcontext, BYTES_IMAGE, before, result - before);
}

static void
unknown(uint64 begin, uint64 end, void *drcontext)
{
    bytes_range(drcontext, BYTES_UNKNOWN, begin, end - begin);
}

/* What cannot be read is written down when it becomes writable: a heap that is reserved, of a terabyte
 * (GHC's), is not gone through page by page. */
static void
readable_now(void *drcontext, uint64 at, uint64 end)
{
    dr_mem_info_t info;
    if (userfault_may_wait(at, end - at)) {
        if (!present_parts(at, end, image, unknown, drcontext))
            unknown(at, end, drcontext);
        return;
    }
    while (at < end && dr_query_memory_ex((const byte *)at, &info)) {
        uint64 next = (uint64)info.base_pc + info.size;
        if (next <= at)
            break;
        if (next > end)
            next = end;
        if (info.type != DR_MEMTYPE_FREE && (info.prot & DR_MEMPROT_READ) != 0)
            images_of(at, next, drcontext);
        at = next;
    }
}

static void
advised(void *drcontext, const uint64 args[6])
{
    if (args[2] == MADV_DONTNEED)
        readable_now(drcontext, args[0], args[0] + TO_PAGE(args[1]));
    else if (args[2] == MADV_REMOVE)
        bytes_range(drcontext, userfault_may_wait(args[0], TO_PAGE(args[1])) ? BYTES_UNKNOWN : BYTES_IMAGE, args[0],
                    TO_PAGE(args[1]));
    else if (args[2] == MADV_FREE)
        bytes_range(drcontext, BYTES_UNKNOWN, args[0], TO_PAGE(args[1]));
}

/* Shared memory of System V: as long as its mapping. */
static void
attached(void *drcontext, uint64 address)
{
    dr_mem_info_t info;
    if (dr_query_memory_ex((const byte *)address, &info))
        bytes_now(drcontext, BYTES_IMAGE, address, (uint64)info.base_pc + info.size - address);
}

static void
detached(void *drcontext, uint64 address)
{
    dr_mem_info_t info;
    if (!userfault_may_wait(address, 1) && dr_query_memory_ex((const byte *)address, &info) && (uint64)info.base_pc == address)
        bytes_range(drcontext, BYTES_GONE, address, info.size);
}

static bool
protects(int number)
{
    return number == SYS_mprotect || number == SYS_pkey_mprotect;
}

void
images_before(void *drcontext, int number, const uint64 args[6], images_t *images)
{
    images->end = 0;
    if (protects(number) && (args[2] & PROT_WRITE) != 0)
        unwritable(args[0], args[0] + TO_PAGE(args[1]), images);
    else if (number == SYS_shmdt)
        detached(drcontext, args[0]);
}

void
images_behind(void *drcontext, int number, const uint64 args[6], uint64 result,
              const images_t *images)
{
    if (result >= (uint64)-4095)
        return;
    if (protects(number) && images->end > 0)
        images_of(images->begin, images->end, drcontext);
    switch (number) {
    case SYS_mmap: mapped(drcontext, result, args); break;
    case SYS_munmap: bytes_range(drcontext, BYTES_GONE, args[0], TO_PAGE(args[1])); break;
    case SYS_mremap: moved(drcontext, args, result); break;
    case SYS_brk: heap_grew(drcontext, result); break;
    case SYS_madvise: advised(drcontext, args); break;
    case SYS_shmat: attached(drcontext, result); break;
    default: break;
    }
}
