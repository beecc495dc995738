/* The way of the data out of the traced program: shared files that the host reads. */
#ifndef PRESTORE_CHANNEL_H
#define PRESTORE_CHANNEL_H

#include "dr_api.h"
#include "wire.h"

/* Words that a buffer keeps free behind its limit: the largest record and a few specials fit. */
#define RED_ZONE_WORDS 2560

typedef struct {
    wire_ring_t *ring; /* NULL: not recording (untraced, or no memory) */
    size_t bytes;
    uint64 *slot;      /* the buffer being filled */
    uint64 begun;      /* its time stamp */
    uint64 handed_over; /* words in buffers before it */
    bool private;      /* recording is over: its buffers are not those of the ring any more */
    char path[MAXIMUM_PATH];
} channel_t;

/* Opens the session; false after a message where it cannot be reached. */
bool session_open(void);

/* The process image whose memory a forked child began with; zeros: it was executed. */
typedef struct {
    process_id_t pid;
    uint64 stamp;
} process_origin_t;

/* After a fork: the child drops the parent's files and opens its own. */
void session_reopen(void);

/* At the very end: nothing is reported behind it. */
void session_exit(void);

/* Shows the host this process, whose meta log must have its first frame by now. */
void session_begin(void);

/* The stamp of this process's files. */
uint64 session_stamp(void);
/* The process that they belong to. */
process_id_t session_pid(void);

const process_origin_t *session_origin(void);

/* Has recording ended for this process (host gone, or it asked to stop)? */
bool session_stopped(void);
/* Tells the user something of this process (enum note_kind). */
void session_note(uint kind, const char *text);

/* Can a process that begins now open the session? */
bool session_in_reach(void);

/* Is the block that is being built recorded? `flags` are what the engine is to be answered. */
bool session_records_block(bool translating, dr_emit_flags_t *flags);

/* Makes the shared file `kind`-PID-TID-STAMP of `bytes` and maps it; NULL on failure. The caller
 * fills its header and then calls session_publish with `path`. */
void *session_map(char kind, thread_id_t tid, size_t bytes, char *path, size_t path_size);
void session_publish(const char *path);

/* Appends whole frames to the meta log. */
void session_meta(const void *frame, size_t bytes);

/* A thread's ring: first pointer to write at, or NULL. */
uint64 *channel_open(channel_t *c, thread_id_t tid);
/* Hands over the words up to `end` and returns where to go on. */
uint64 *channel_hand_over(void *drcontext, channel_t *c, uint64 *end);
/* The first word that must not be begun at. */
uint64 *channel_limit(channel_t *c);
/* Hands over the rest; the thread is done. */
void channel_close(channel_t *c, uint64 *end);
/* Forgets it without handing anything over (in a forked child). */
void channel_drop(channel_t *c);

#endif
