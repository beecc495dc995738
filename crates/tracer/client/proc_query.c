#include "proc_query.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bytes.h"
#include "options.h"
#include "peek.h"
#include "proc_copies.h"
#include "proc_maps.h"

/* Of Linux 6.11; older headers lack it. */
typedef struct {
    uint64 size, flags, address;
    uint64 begin, end, vma_flags, page_size, offset, inode;
    uint dev_major, dev_minor, name_size, build_id_size;
    uint64 name, build_id;
} query_t;

#define QUERY _IOWR('f', 17, query_t)
#define COVERING_OR_NEXT 0x10
#define LEAST_BYTES offsetof(query_t, begin)
#define MOST_BYTES 4096
#define HEAP "[heap]"

/* The kernel's answer: 0, or an error, negative. */
static long
ask(long maps, query_t *query)
{
    return syscall(SYS_ioctl, maps, QUERY, query) == 0 ? 0 : -errno;
}

/* Finds the first of the program's mappings that `given` may mean. `found`: what the kernel says of the mapping that it lies in;
 * [*begin, *end): the program's part of that. */
static long
find(long maps, const query_t *given, query_t *found, uint64 *begin, uint64 *end, bool *heap)
{
    char path[PATH_MAX];
    uint64 at = given->address;
    bool or_next = (given->flags & COVERING_OR_NEXT) != 0;
    for (;;) {
        *found = *given;
        found->size = sizeof(*found);
        found->address = at;
        found->name = (uint64)path;
        found->name_size = sizeof(path);
        found->build_id = found->build_id_size = 0;
        path[0] = '\0';
        long result = ask(maps, found);
        if (result < 0)
            return result;
        *begin = found->begin;
        *end = found->end;
        bool any = proc_maps_part(found->name_size == 0 ? "" : path, at, begin, end, heap);
        if (any && (or_next || *begin <= at))
            return 0;
        if (!or_next)
            return -ENOENT;
        at = found->end;
    }
}

/* The heap, which the engine keeps, has its name all the same. */
static long
name_heap(const query_t *given, query_t *answer)
{
    if (given->name_size < sizeof(HEAP))
        return -ENAMETOOLONG;
    if (!dr_safe_write((void *)given->name, sizeof(HEAP), HEAP, NULL))
        return -EFAULT;
    answer->name_size = sizeof(HEAP);
    return 0;
}

static long
answer(long maps, const query_t *given, query_t *to)
{
    uint64 begin, end;
    bool heap;
    long result = find(maps, given, to, &begin, &end, &heap);
    if (result < 0)
        return result;
    query_t all = *given;
    all.size = sizeof(all);
    all.flags &= ~(uint64)COVERING_OR_NEXT;
    all.address = to->begin;
    if (heap)
        all.name = all.name_size = 0;
    result = ask(maps, &all);
    if (result == 0 && heap && given->name_size > 0)
        result = name_heap(given, &all);
    all.size = given->size;
    all.flags = given->flags;
    all.address = given->address;
    all.offset += all.inode == 0 ? 0 : begin - all.begin;
    all.begin = begin;
    all.end = end;
    all.name = given->name;
    *to = all;
    return result;
}

static void
written(void *drcontext, uint64 at, uint64 bytes)
{
    if (options.values && at != 0 && bytes > 0)
        bytes_now(drcontext, BYTES_KERNEL, at, bytes);
}

static long
query(void *drcontext, uint64 from)
{
    query_t given = { 0 }, to;
    if (peek((const void *)from, &given, sizeof(given.size)) < sizeof(given.size))
        return -EFAULT;
    if (given.size < LEAST_BYTES)
        return -EINVAL;
    if (given.size > MOST_BYTES)
        return -E2BIG;
    size_t bytes = given.size < sizeof(given) ? (size_t)given.size : sizeof(given);
    if (peek((const void *)from, &given, bytes) < bytes)
        return -EFAULT;
    file_t maps = dr_open_aside(AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    long result = maps < 0 ? -ENOTTY : answer(maps, &given, &to);
    if (maps >= 0)
        syscall(SYS_close, maps);
    if (result < 0)
        return result;
    if (!dr_safe_write((void *)from, bytes, &to, NULL))
        return -EFAULT;
    written(drcontext, from, bytes);
    written(drcontext, to.name, to.name_size);
    written(drcontext, to.build_id, to.build_id_size);
    return 0;
}

bool
proc_query_call(void *drcontext, int number)
{
    file_of_t of;
    if (number != SYS_ioctl || (uint)dr_syscall_get_param(drcontext, 1) != QUERY ||
        !proc_copies_find((int)dr_syscall_get_param(drcontext, 0), &of))
        return false;
    size_t length = strlen(of.path);
    if (of.kind != MAPS || length < 5 || strcmp(of.path + length - 5, "/maps") != 0)
        return false;
    dr_syscall_set_result(drcontext, (reg_t)query(drcontext, dr_syscall_get_param(drcontext, 2)));
    return true;
}
