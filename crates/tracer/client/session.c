#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file_limit.h"
#include "locks.h"
#include "meta_log.h"
#include "options.h"
#include "ring.h"

static wire_control_t *control;
static int control_fd = -1;
static file_t meta_file = INVALID_FILE;
/* In a forked child that has not shown itself yet: its parent's log, still open. */
static file_t parents_meta_file = INVALID_FILE;
/* With whoever forked this process, which has its own open, too. */
static bool descriptors_are_shared;
static char meta_path[MAXIMUM_PATH];
static void *meta_lock;
static uint64 stamp;
static process_origin_t origin;
/* Of the process that opened the session. A vfork child runs as a thread of its parent, in its
 * memory, until it executes something: what it does is recorded as its parent's. */
static process_id_t pid;
static volatile bool stopped;
/* A block may be recorded of which the log says nothing. */
static volatile bool log_ends;

/* The host holds a lock on the control file for as long as it lives. */
bool
session_host_is_gone(void)
{
    if (control_fd < 0)
        return false;
    if (flock(control_fd, LOCK_SH | LOCK_NB) == 0) {
        flock(control_fd, LOCK_UN);
        return true;
    }
    return errno != EWOULDBLOCK && errno != EINTR;
}

void
session_note(uint kind, const char *text)
{
    if (control == NULL)
        return;
    uint32_t at = __atomic_fetch_add(&control->notes, 1, __ATOMIC_SEQ_CST);
    if (at < CONTROL_NOTES) {
        wire_note_t *note = &control->note[at];
        note->kind = kind;
        note->pid = (uint32_t)syscall(SYS_getpid);
        dr_snprintf(note->text, sizeof(note->text) - 1, "%s", text);
        __atomic_store_n(&note->ready, 1, __ATOMIC_RELEASE);
    }
    doorbell_ring(control);
}

void
session_stop(const char *why)
{
    if (__atomic_exchange_n(&stopped, true, __ATOMIC_SEQ_CST) || why == NULL)
        return;
    if (session_host_is_gone()) {
        dr_fprintf(STDERR, "prestore: %s; process %d goes on unrecorded\n", why,
                   dr_get_process_id());
    } else {
        session_note(NOTE_STOPPED, why);
    }
}

void
session_ring_doorbell(void)
{
    doorbell_ring(control);
}

bool
session_stopped(void)
{
    if (!stopped && control != NULL &&
        __atomic_load_n(&control->stop, __ATOMIC_RELAXED) != 0)
        session_stop(NULL);
    return stopped;
}

bool
session_was_stopped(void)
{
    return stopped;
}

bool
session_stopped_here(void)
{
    return stopped && !log_ends && control != NULL && __atomic_load_n(&control->stop, __ATOMIC_RELAXED) == 0;
}

/* The engine builds a block again to tell where a fault or a signal in it belongs: it must become what
 * it was, though recording may have ended meanwhile. Blocks made after the end keep their
 * translations, so that those built again are all recorded ones. */
bool
session_records_block(bool translating, dr_emit_flags_t *flags)
{
    bool records = translating || !session_stopped();
    *flags = records ? DR_EMIT_DEFAULT : DR_EMIT_STORE_TRANSLATIONS;
    return records;
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

const process_origin_t *
session_origin(void)
{
    return &origin;
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
    doorbell_ring(control);
}

/* The engine lets the user's group in, and the program's mask may have kept everybody out. */
static void
for_the_user_alone(file_t file)
{
    fchmod(file, 0600);
}

/* The lock tells the host that this image may still write, or that a child which it forked has not
 * shown itself: it belongs to the open file, which a fork shares and an exec or an end closes. */
static bool
open_meta(void)
{
    meta_log_begin();
    stamp = __builtin_ia32_rdtsc();
    pid = dr_get_process_id();
    file_path(meta_path, sizeof(meta_path), ".", 'p', 0);
    meta_file = dr_open_file(meta_path, DR_FILE_WRITE_OVERWRITE | DR_FILE_ALLOW_LARGE);
    if (meta_file < 0)
        return false;
    for_the_user_alone(meta_file);
    return flock(meta_file, LOCK_SH | LOCK_NB) == 0;
}

/* The engine, whose open() the client's is too, does not say why it could not open a file. */
static bool
no_descriptor_is_left(void)
{
    long any = syscall(SYS_open, "/", O_RDONLY | O_CLOEXEC);
    if (any < 0)
        return errno == EMFILE;
    syscall(SYS_close, any);
    return false;
}

void
session_begin(void)
{
    if (!stopped)
        session_publish(meta_path);
    if (parents_meta_file >= 0 && !descriptors_are_shared)
        dr_close_file(parents_meta_file);
    parents_meta_file = INVALID_FILE;
}

/* Through the engine: the program must not be able to close it. In a forked child a new open file,
 * since locks belong to open files. */
static void
open_control(const char *path)
{
    if (control_fd >= 0 && !descriptors_are_shared)
        dr_close_file(control_fd);
    control_fd = dr_open_file(path, DR_FILE_READ | DR_FILE_WRITE_APPEND);
}

bool
session_in_reach(void)
{
    char path[MAXIMUM_PATH];
    dr_snprintf(path, sizeof(path), "%s/control", options.dir);
    /* Opening would make one. */
    if (!dr_file_exists(path))
        return false;
    file_t file = dr_open_file(path, DR_FILE_READ | DR_FILE_WRITE_APPEND);
    if (file < 0)
        return false;
    dr_close_file(file);
    return true;
}

bool
session_open(void)
{
    char path[MAXIMUM_PATH];
    /* Also where nothing is recorded: children that are forked take it over. */
    meta_lock = dr_mutex_create();
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
    if (control->stop != 0 || session_host_is_gone()) {
        stopped = true;
        return true;
    }
    return open_meta();
}

void
session_reopen(bool shares_descriptors)
{
    char path[MAXIMUM_PATH];
    descriptors_are_shared = shares_descriptors;
    meta_lock = lock_in_child(meta_lock);
    dr_snprintf(path, sizeof(path), "%s/control", options.dir);
    open_control(path);
    /* Not the parent by now, which may have ended: the one whose memory and code this is. */
    origin.pid = pid;
    origin.stamp = stamp;
    parents_meta_file = meta_file;
    if (control_fd < 0 || !open_meta())
        session_stop(no_descriptor_is_left()
                         ? SESSION_NO_DESCRIPTOR
                         : "it cannot open its files (has it changed its user or its root directory?)");
}

void
session_close(void)
{
    if (!descriptors_are_shared)
        return;
    /* They would be open as long as anybody's. */
    dr_close_file(control_fd);
    dr_close_file(meta_file);
    control_fd = meta_file = INVALID_FILE;
}

void
session_exit(void)
{
    if (meta_lock != NULL)
        dr_mutex_destroy(meta_lock);
}

void
session_meta(const void *frame, size_t bytes)
{
    if (stopped) {
        log_ends = true;
        return;
    }
    dr_mutex_lock(meta_lock);
    int failed = meta_log_append(meta_file, frame, bytes);
    dr_mutex_unlock(meta_lock);
    log_ends |= failed != 0;
    if (log_ends)
        session_stop(failed == EFBIG   ? SESSION_FILE_TOO_LARGE
                     : failed == EBADF ? "a process with which it shares its descriptors has closed the recorder's"
                     : failed == ENOMEM ? "there was no room for the recorder in its address space (see ulimit -v)"
                                        : "the file system of the shared buffers is full");
}

/* Far from where the system puts what a program maps, so that an opening which the program makes for
 * itself is not filled by us. Sanitizers and collectors that choose addresses have none of these, nor
 * do thread sanitizers close what lies there: they leave alone where the kernel puts programs, which
 * under the engine are elsewhere. */
void *
session_place(size_t bytes)
{
    enum { FIRST_TB = 86, PLACE = 1 << 21 };
    static const uint64 half_a_tb = (uint64)1 << 39;
    static uint64 used;
    uint64 room = (bytes + PLACE - 1) / PLACE * PLACE;
    uint64 at = __atomic_fetch_add(&used, room, __ATOMIC_RELAXED) % half_a_tb;
    return (void *)(((uint64)FIRST_TB << 40) + at);
}

void *
session_map(char kind, thread_id_t tid, size_t bytes, char *path, size_t path_size)
{
    file_path(path, path_size, ".", kind, tid);
    /* Through the engine, which has descriptors where the program has used up its own. */
    file_t fd = dr_open_file(path, DR_FILE_READ | DR_FILE_WRITE_OVERWRITE | DR_FILE_ALLOW_LARGE);
    if (fd < 0) {
        errno = no_descriptor_is_left() ? EMFILE : EACCES;
        return NULL;
    }
    for_the_user_alone(fd);
    void *map = MAP_FAILED;
    /* The counters of the scope `count` are sparse; buffers must exist, or a full file system
     * would kill the program at its first write. */
    file_limit_t limit;
    dr_mutex_lock(meta_lock);
    file_limit_raise(&limit);
    int failed = kind == 'n' ? ftruncate(fd, (off_t)bytes) : posix_fallocate(fd, 0, (off_t)bytes);
    if (failed < 0)
        failed = errno;
    file_limit_restore(&limit);
    dr_mutex_unlock(meta_lock);
    if (failed == 0)
        map = mmap(session_place(bytes), bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (failed == 0 && map == MAP_FAILED)
        failed = errno;
    dr_close_file(fd);
    if (map == MAP_FAILED) {
        unlink(path);
        errno = failed == EFBIG || failed == ENOMEM ? failed : ENOSPC;
        return NULL;
    }
    return map;
}
