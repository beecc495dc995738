#define _GNU_SOURCE
#include "mapped_files.h"

#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "session.h"
#include "thread.h"
#include "wire.h"

#define KIND_OF_SHARING 0x0f

/* Numbers go on in a forked child: what it inherits keeps its parent's. */
static volatile int last_number;

/* The name goes to the block log, its number into the thread's words: there it has its time. A file that goes by another name later
 * is the same by its identity. */
static uint64
tell_name(int fd, uint64 identity)
{
    struct {
        uint32_t type, bytes;
        uint64_t number;
        uint32_t length, pad;
        char path[MAXIMUM_PATH + 8 + sizeof(identity)];
    } frame = { .type = META_FILE };
    char link[48];
    frame.number = (uint64)dr_atomic_add32_return_sum(&last_number, 1);
    dr_snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", fd);
    /* Without /proc it stays without a name. */
    long length = syscall(SYS_readlink, link, frame.path, (size_t)MAXIMUM_PATH);
    frame.length = length > 0 ? (uint32_t)length : 0;
    uint32_t padded = (frame.length + 7) & ~7u;
    memcpy(frame.path + padded, &identity, sizeof(identity));
    frame.bytes = 16 + padded + (uint32_t)sizeof(identity);
    session_meta(&frame, 8 + frame.bytes);
    return frame.number;
}

/* Memory with the same identity is the same, whichever process has it, and where. */
enum of_what { OF_NO_FILE, OF_A_FILE, OF_A_SEGMENT };

/* All that was told of lies between: most that is moved is not shared. Threads that map at the same time may leave one of them out,
 * which is no more than if nothing was told of its moving. */
static volatile uint64 shared_from = ~0ull, shared_to;

static void
widen_shared(uint64 address, uint64 bytes)
{
    if (address < shared_from)
        shared_from = address;
    if (address + bytes > shared_to)
        shared_to = address + bytes;
}

static void
tell_shared(uint64 address, uint64 bytes, enum of_what of, uint64 identity, uint64 offset)
{
    struct {
        uint32_t type, bytes;
        uint64_t address, length, identity, offset;
    } frame = { .type = META_SHARED,
                .bytes = 32,
                .address = address,
                .length = bytes,
                .identity = identity << 2 | of,
                .offset = offset };
    session_meta(&frame, sizeof(frame));
    widen_shared(address, bytes);
}

void
mapped_files_moved(uint64 to, const uint64 args[6])
{
    struct {
        uint32_t type, bytes;
        uint64_t from, length, to, new_length;
    } frame = { .type = META_MOVED,
                .bytes = 32,
                .from = args[0],
                .length = args[1],
                .to = to,
                .new_length = args[2] };
    if (args[0] < shared_from || args[0] >= shared_to)
        return;
    session_meta(&frame, sizeof(frame));
    widen_shared(to, args[2]);
}

/* Answers the file's identity; 0: it has none. */
static uint64
tell_mapped(uint64 address, const uint64 args[6])
{
    struct stat file;
    bool anonymous = (args[3] & MAP_ANONYMOUS) != 0;
    if (!anonymous && syscall(SYS_fstat, (int)args[4], &file) != 0)
        return 0;
    /* Each mapping of /dev/zero has memory of its own. */
    if (anonymous || (S_ISCHR(file.st_mode) && file.st_rdev == makedev(1, 5))) {
        tell_shared(address, args[1], OF_NO_FILE, __builtin_ia32_rdtsc(), 0);
        return 0;
    }
    uint64 identity = file.st_dev << 40 ^ file.st_ino;
    tell_shared(address, args[1], OF_A_FILE, identity, args[5]);
    return identity;
}

void
mapped_files_attached(uint64 address, const uint64 args[6])
{
    struct shmid_ds segment;
    /* Who may attach it and not ask shares it unseen. */
    if (syscall(SYS_shmctl, (int)args[0], IPC_STAT, &segment) == 0)
        tell_shared(address, segment.shm_segsz, OF_A_SEGMENT, args[0], 0);
}

void
mapped_files_mapped(void *drcontext, uint64 address, const uint64 args[6])
{
    uint64 sharing = args[3] & KIND_OF_SHARING;
    if (sharing != MAP_SHARED && sharing != MAP_SHARED_VALIDATE)
        return;
    uint64 identity = tell_mapped(address, args);
    if ((args[3] & MAP_ANONYMOUS) != 0)
        return;
    uint64 payload[5] = { address, args[1], args[5], tell_name((int)args[4], identity),
                          (args[2] & PROT_WRITE) != 0 ? MAPPED_WRITABLE : 0 };
    thread_special(drcontext, REC_MAPPED, 5, payload);
}

void
mapped_files_synced(void *drcontext, const uint64 args[6])
{
    uint64 payload[2] = { args[0], args[1] };
    /* MS_ASYNC promises nothing. */
    if ((args[2] & MS_SYNC) != 0)
        thread_special(drcontext, REC_SYNCED, 2, payload);
}
