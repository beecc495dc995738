/*
 * Memory of a chosen type, from the kernel module prestore (docs/memory-types.md): C99 or C++11, in the library only.
 *
 *     unsigned char *log = prestore_map(1 << 20, PRESTORE_WT);
 *     if (log == NULL)
 *         fprintf(stderr, "no log: %s\n", prestore_map_why(errno));
 *     ...
 *     prestore_unmap(log, 1 << 20);
 */
#ifndef PRESTORE_MAP_H
#define PRESTORE_MAP_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum prestore_type {
    PRESTORE_WB = 0, /* write-back: as all memory */
    PRESTORE_WT = 1, /* write-through: reads are cached, stores go to memory */
    PRESTORE_WC = 2, /* write-combining: not cached, stores gather until a fence or a full line */
    PRESTORE_UC = 3  /* uncacheable: each access goes to memory, in order */
} prestore_type;

/*
 * New memory of `size` bytes, rounded up to whole pages: zeroed, never swapped, shared with forked processes. NULL with
 * errno where there is none: ENOENT (no module), EACCES, EOPNOTSUPP (no such type on this machine), EINVAL (size 0 or
 * no type), ENOSPC (the module's limit), ENOMEM, ENOSYS (not x86-64).
 */
extern void *prestore_map(size_t size, prestore_type type);

/* Gives it back. 0, or -1 with errno. */
extern int prestore_unmap(void *addr, size_t size);

/* What an errno of prestore_map means and what to do about it. The text lives as long as the program. */
extern const char *prestore_map_why(int error);

#ifdef __cplusplus
}
#endif

#endif
