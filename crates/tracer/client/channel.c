#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "options.h"

/* linux/futex.h without its dependencies */
#define FUTEX_WAIT_OP 0
#define FUTEX_WAKE_OP 1

static wire_control_t *control;
static int control_fd = -1;
static file_t meta_file = INVALID_FILE;
static char meta_path[MAXIMUM_PATH];
static void *meta_lock;
static uint64 stamp;
/* Of the process that opened the session. A vfork child runs as a thread of its parent, in its
 * memory, until it executes something: what it does is recorded as its parent's. */
static process_id_t pid;
static volatile bool stopped;

static uint64
ticks(void)
{
    return __builtin_ia32_rdtsc();
}

static long
futex(volatile uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
    return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

static void
ring_doorbell(void)
{
    __atomic_add_fetch(&control->doorbell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&control->asleep, __ATOMIC_SEQ_CST) != 0)
        futex(&control->doorbell, FUTEX_WAKE_OP, 1, NULL);
}

/* The host holds a lock on the control file for as long as it lives. */
static bool
host_is_gone(void)
{
    if (flock(control_fd, LOCK_SH | LOCK_NB) == 0) {
        flock(control_fd, LOCK_UN);
        return true;
    }
    return errno != EWOULDBLOCK && errno != EINTR;
}

static void
stop_recording(const char *why)
{
    if (!__atomic_exchange_n(&stopped, true, __ATOMIC_SEQ_CST) && why != NULL) {
        dr_fprintf(STDERR, "prestore: %s; process %d goes on unrecorded\n", why,
                   dr_get_process_id());
    }
}

bool
session_stopped(void)
{
    if (!stopped && control != NULL && control->stop != 0)
        stop_recording(NULL);
    return stopped;
}

uint64
session_stamp(void)
{
    return stamp;
}

process_id_t
session_pid(void)
{
    return pid;
}

static void
file_path(char *out, size_t size, const char *prefix, char kind, thread_id_t tid)
{
    if (tid == 0) {
        dr_snprintf(out, size, "%s/%s%c-%d-%llx.meta", options.dir, prefix, kind, pid,
                    (unsigned long long)stamp);
    } else {
        dr_snprintf(out, size, "%s/%s%c-%d-%d-%llx", options.dir, prefix, kind, pid, (int)tid,
                    (unsigned long long)stamp);
    }
    out[size - 1] = '\0';
}

void
session_publish(const char *path)
{
    char ready[MAXIMUM_PATH];
    /* The name was made with a leading dot; the host sees names without. */
    const char *slash = strrchr(path, '/');
    dr_snprintf(ready, sizeof(ready), "%.*s/%s", (int)(slash - path), path, slash + 2);
    ready[sizeof(ready) - 1] = '\0';
    dr_rename_file(path, ready, true);
    __atomic_add_fetch(&control->files, 1, __ATOMIC_SEQ_CST);
    ring_doorbell();
}

static bool
open_meta(void)
{
    stamp = ticks();
    pid = dr_get_process_id();
    file_path(meta_path, sizeof(meta_path), ".", 'p', 0);
    meta_file = dr_open_file(meta_path, DR_FILE_WRITE_OVERWRITE | DR_FILE_ALLOW_LARGE |
                                       DR_FILE_CLOSE_ON_FORK);
    return meta_file != INVALID_FILE;
}

void
session_begin(void)
{
    if (!stopped)
        session_publish(meta_path);
}

/* Through the engine: the program must not be able to close it. In a forked child a new open file,
 * since locks belong to open files. */
static void
open_control(const char *path)
{
    if (control_fd >= 0)
        dr_close_file(control_fd);
    control_fd = dr_open_file(path, DR_FILE_READ | DR_FILE_WRITE_APPEND);
}

bool
session_open(void)
{
    char path[MAXIMUM_PATH];
    dr_snprintf(path, sizeof(path), "%s/control", options.dir);
    open_control(path);
    if (control_fd < 0) {
        /* The session is over and its folder gone; what it started lives on, unrecorded. */
        stopped = true;
        return true;
    }
    void *map =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, control_fd, 0);
    if (map == MAP_FAILED)
        return false;
    control = map;
    if (control->magic != CONTROL_MAGIC || control->version != WIRE_VERSION) {
        dr_fprintf(STDERR, "prestore: %s is of another version of prestore\n", path);
        return false;
    }
    meta_lock = dr_mutex_create();
    if (control->stop != 0 || host_is_gone()) {
        stopped = true;
        return true;
    }
    return open_meta();
}

void
session_reopen(void)
{
    char path[MAXIMUM_PATH];
    /* A lock held by another thread of the parent at the fork would never be freed. */
    meta_lock = dr_mutex_create();
    dr_snprintf(path, sizeof(path), "%s/control", options.dir);
    open_control(path);
    if (control_fd < 0 || !open_meta())
        stop_recording("its shared files cannot be opened");
}

void
session_meta(const void *frame, size_t bytes)
{
    if (stopped)
        return;
    dr_mutex_lock(meta_lock);
    ssize_t written = dr_write_file(meta_file, frame, bytes);
    dr_mutex_unlock(meta_lock);
    if (written != (ssize_t)bytes)
        stop_recording("the file system of the shared buffers is full");
}

void *
session_map(char kind, thread_id_t tid, size_t bytes, char *path, size_t path_size)
{
    file_path(path, path_size, ".", kind, tid);
    /* Not open(): the engine redirects it to its own, which has other flags. */
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    void *map = MAP_FAILED;
    /* The counters of the scope `count` are sparse; buffers must exist, or a full file system
     * would kill the program at its first write. */
    int failed = kind == 'n' ? ftruncate(fd, (off_t)bytes) : posix_fallocate(fd, 0, (off_t)bytes);
    if (failed == 0)
        map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (map == MAP_FAILED) {
        unlink(path);
        errno = ENOSPC;
        return NULL;
    }
    return map;
}

static uint64 *
slot_at(channel_t *c, uint32_t number)
{
    byte *first = (byte *)c->ring + RING_HEADER_BYTES;
    return (uint64 *)first + (size_t)(number % c->ring->slots) * c->ring->slot_words;
}

static uint64 *
begin_slot(channel_t *c, uint32_t number)
{
    c->slot = slot_at(c, number);
    c->begun = ticks();
    c->slot[0] = REC_HEADER(REC_TIME, 1);
    c->slot[1] = c->begun;
    return c->slot + 2;
}

uint64 *
channel_open(channel_t *c, thread_id_t tid)
{
    c->ring = NULL;
    if (session_stopped())
        return NULL;
    c->bytes = RING_HEADER_BYTES + (size_t)options.slots * options.slot_words * sizeof(uint64);
    wire_ring_t *ring = session_map('t', tid, c->bytes, c->path, sizeof(c->path));
    if (ring == NULL) {
        stop_recording(errno == EACCES || errno == EPERM
                           ? "it may not make buffers any more (has it changed its user?)"
                           : "there is no room for its buffers (/dev/shm full?)");
        return NULL;
    }
    ring->magic = RING_MAGIC;
    ring->version = WIRE_VERSION;
    ring->pid = (uint32_t)pid;
    ring->tid = (uint32_t)tid;
    ring->slots = options.slots;
    ring->slot_words = options.slot_words;
    ring->stamp = stamp;
    c->ring = ring;
    uint64 *first = begin_slot(c, 0);
    session_publish(c->path);
    return first;
}

uint64 *
channel_limit(channel_t *c)
{
    return c->slot + c->ring->slot_words - RED_ZONE_WORDS;
}

/* Waits until a buffer is free; false when there is nobody left to free one. */
static bool
wait_for_slot(void *drcontext, channel_t *c)
{
    wire_ring_t *ring = c->ring;
    const struct timespec patience = { 0, 100 * 1000 * 1000 };
    bool in_app = drcontext != NULL;
    bool free_slot = true;
    uint32_t produced = ring->produced;
    uint32_t consumed = __atomic_load_n(&ring->consumed, __ATOMIC_ACQUIRE);
    if (produced - consumed < ring->slots)
        return true;
    /* Another thread may need to stop this one (exit, code flushes): let it. */
    if (in_app)
        dr_mark_safe_to_suspend(drcontext, true);
    for (;;) {
        __atomic_store_n(&ring->waiting, 1, __ATOMIC_SEQ_CST);
        consumed = __atomic_load_n(&ring->consumed, __ATOMIC_SEQ_CST);
        if (produced - consumed < ring->slots)
            break;
        futex(&ring->consumed, FUTEX_WAIT_OP, consumed, &patience);
        if (session_stopped()) {
            free_slot = false;
            break;
        }
        consumed = __atomic_load_n(&ring->consumed, __ATOMIC_SEQ_CST);
        if (produced - consumed >= ring->slots && host_is_gone()) {
            stop_recording("the analysing side is gone");
            free_slot = false;
            break;
        }
    }
    ring->waiting = 0;
    if (in_app)
        dr_mark_safe_to_suspend(drcontext, false);
    return free_slot;
}

static void
produce(channel_t *c, uint64 *end)
{
    wire_ring_t *ring = c->ring;
    uint32_t number = ring->produced;
    ring->used[number % ring->slots] = (uint32_t)(end - c->slot);
    __atomic_store_n(&ring->produced, number + 1, __ATOMIC_RELEASE);
    ring_doorbell();
}

uint64 *
channel_hand_over(void *drcontext, channel_t *c, uint64 *end)
{
    if (stopped)
        return c->slot; /* nobody reads: write over it */
    produce(c, end);
    if (!wait_for_slot(drcontext, c))
        return c->slot;
    return begin_slot(c, c->ring->produced);
}

void
channel_close(channel_t *c, uint64 *end)
{
    if (c->ring == NULL)
        return;
    if (!stopped)
        produce(c, end);
    __atomic_store_n(&c->ring->ended, 1, __ATOMIC_RELEASE);
    ring_doorbell();
    channel_drop(c);
}

void
channel_drop(channel_t *c)
{
    if (c->ring != NULL)
        munmap(c->ring, c->bytes);
    c->ring = NULL;
}
