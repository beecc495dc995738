#include "channel.h"

#include <errno.h>
#include <sys/mman.h>

#include "options.h"
#include "ring.h"
#include "session.h"

static uint64
ticks(void)
{
    return __builtin_ia32_rdtsc();
}

static uint64 *
begin_slot(channel_t *c, uint32_t number)
{
    c->slot = ring_slot(c->ring, number);
    c->waits = false;
    c->begun = ticks();
    c->slot[0] = REC_HEADER(REC_TIME, 1);
    c->slot[1] = c->begun;
    return c->slot + 2;
}

static const char *
why_no_file(void)
{
    switch (errno) {
    case EACCES:
    case EPERM: return "it may not make buffers any more (has it changed its user?)";
    case EFBIG: return SESSION_FILE_TOO_LARGE;
    case ENOENT: return "it cannot reach its buffers any more (has it changed its root directory?)";
    case EMFILE: return SESSION_NO_DESCRIPTOR;
    case ENOMEM: return "its buffers cannot be mapped (vm.max_map_count, RLIMIT_AS?)";
    default: return "there is no room for its buffers (/dev/shm full?)";
    }
}

uint64 *
channel_open(channel_t *c, thread_id_t tid)
{
    c->ring = NULL;
    c->waits = c->private = false;
    c->handed_over = 0;
    if (session_stopped())
        return NULL;
    c->bytes = RING_HEADER_BYTES + (size_t)options.slots * options.slot_words * sizeof(uint64);
    wire_ring_t *ring = session_map('t', tid, c->bytes, c->path, sizeof(c->path));
    if (ring == NULL) {
        session_stop(why_no_file());
        return NULL;
    }
    ring->magic = RING_MAGIC;
    ring->version = WIRE_VERSION;
    ring->pid = (uint32_t)session_pid();
    ring->tid = (uint32_t)tid;
    ring->slots = options.slots;
    ring->slot_words = options.slot_words;
    ring->stamp = session_stamp();
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

/* Will nobody give a buffer back any more? */
static int
recording_is_over(void *unused)
{
    if (session_stopped())
        return true;
    if (!session_host_is_gone())
        return false;
    session_stop("the analysing side is gone");
    return true;
}

/* Waits until the host has yet to look at `most` buffers; false when recording is over instead. */
static bool
wait_until_untaken(void *drcontext, channel_t *c, uint32_t most)
{
    const struct timespec patience = { 0, 100 * 1000 * 1000 };
    if (ring_untaken(c->ring) <= most)
        return true;
    /* Another thread may need to stop this one (exit, code flushes): let it. */
    if (drcontext != NULL)
        dr_mark_safe_to_suspend(drcontext, true);
    bool done = ring_wait(c->ring, most, &patience, recording_is_over, NULL);
    if (drcontext != NULL)
        dr_mark_safe_to_suspend(drcontext, false);
    return done;
}

bool
channel_wait_taken(void *drcontext, channel_t *c)
{
    return wait_until_untaken(drcontext, c, 0);
}

/* Lets the thread write where nobody reads: the host may still be reading all that was handed over
 * before the end of the recording. False: there is no memory for it, and a host that reads. */
static bool
go_private(channel_t *c)
{
    if (!c->private) {
        void *buffers = mmap((byte *)c->ring + RING_HEADER_BYTES, c->bytes - RING_HEADER_BYTES,
                             PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        c->private = buffers != MAP_FAILED;
    }
    return c->private || session_host_is_gone();
}

static void
produce(channel_t *c, uint64 *end)
{
    ring_produce(c->ring, (uint32_t)(end - c->slot));
    c->handed_over += (uint64)(end - c->slot);
    session_ring_doorbell();
}

uint64 *
channel_hand_over(void *drcontext, channel_t *c, uint64 *end)
{
    if (session_stopped()) {
        /* What is not handed over can be written over in any case; the file keeps what is. */
        bool wanted = session_stopped_here() && !c->private;
        if (go_private(c) && wanted)
            produce(c, end);
        return c->slot;
    }
    produce(c, end);
    c->waits = true;
    while (!wait_until_untaken(drcontext, c, c->ring->slots - 1)) {
        if (go_private(c)) {
            c->waits = false;
            return c->slot;
        }
    }
    return begin_slot(c, ring_filling(c->ring));
}

void
channel_close(channel_t *c, uint64 *end)
{
    if (c->ring == NULL)
        return;
    /* Another thread may have stopped recording: this one's last buffer is whole all the same. One
     * that was ended where it waits for the host has handed over all that it had. */
    if (end != NULL && !c->waits && (!session_was_stopped() || (session_stopped_here() && !c->private))) {
        /* When it ended: the red zone has room for it. */
        end[0] = REC_HEADER(REC_TIME, 1);
        end[1] = ticks();
        ring_produce(c->ring, (uint32_t)(end + 2 - c->slot));
    }
    ring_end(c->ring);
    session_ring_doorbell();
    channel_drop(c);
}

void
channel_drop(channel_t *c)
{
    if (c->ring != NULL)
        munmap(c->ring, c->bytes);
    c->ring = NULL;
}
