#include "meta_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "file_limit.h"
#include "session.h"
#include "wire.h"

/* The mapping covers the end of the log and moves with it. */
#define WINDOW (2 * META_LOG_STEP)

static wire_log_t *head; /* the file's first page */
static byte *window;
static uint64 window_at; /* in the file */
static uint64 end;

void
meta_log_begin(void)
{
    if (head != NULL)
        munmap(head, LOG_HEADER_PAGE);
    if (window != NULL)
        munmap(window, WINDOW);
    head = NULL;
    window = NULL;
    end = LOG_HEADER_BYTES;
}

/* `old`: what is mapped there already. */
static void *
map(file_t file, uint64 at, size_t bytes, void *old)
{
    int flags = MAP_SHARED | MAP_POPULATE | (old == NULL ? 0 : MAP_FIXED);
    void *place = old == NULL ? session_place(bytes) : old;
    void *found = mmap(place, bytes, PROT_READ | PROT_WRITE, flags, file, (off_t)at);
    return found == MAP_FAILED ? NULL : found;
}

/* Moves the window to the end. The file has all of it: a full file system would kill the program at its first write. */
static int
move_window(file_t file)
{
    uint64 at = end / META_LOG_STEP * META_LOG_STEP;
    file_limit_t limit;
    file_limit_raise(&limit);
    int failed = posix_fallocate(file, (off_t)at, WINDOW);
    file_limit_restore(&limit);
    if (failed != 0)
        return failed;
    byte *moved = map(file, at, WINDOW, window);
    if (moved == NULL)
        return errno;
    window = moved;
    window_at = at;
    if (head != NULL)
        return 0;
    head = map(file, 0, LOG_HEADER_PAGE, NULL);
    if (head == NULL)
        return errno;
    head->magic = LOG_MAGIC;
    return 0;
}

int
meta_log_append(file_t file, const void *frames, size_t bytes)
{
    if (bytes > META_LOG_STEP)
        return EFBIG;
    if (head == NULL || end + bytes > window_at + WINDOW) {
        int failed = move_window(file);
        if (failed != 0)
            return failed;
    }
    memcpy(window + (end - window_at), frames, bytes);
    end += bytes;
    __atomic_store_n(&head->bytes, end, __ATOMIC_RELEASE);
    return 0;
}
