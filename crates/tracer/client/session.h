/* What a process has of the recording session: files that the host reads, and when it ends. */
#ifndef PRESTORE_SESSION_H
#define PRESTORE_SESSION_H

#include "dr_api.h"
#include "wire.h"

/* Opens the session; false after a message where it cannot be reached. */
bool session_open(void);

/* The process image whose memory a forked child began with; zeros: it was executed. */
typedef struct {
    process_id_t pid;
    uint64 stamp;
} process_origin_t;

/* After a fork: the child drops the parent's files and opens its own. Where the two share their descriptors, what one of them
 * closes is closed for both: the parent's stay open, and the child closes its own at its end. */
void session_reopen(bool shares_descriptors);

/* At the very end: nothing is reported behind it. */
void session_close(void);
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
/* The same, as far as it was noticed: does not look. */
bool session_was_stopped(void);

/* Has the process stopped recording by itself, while the host goes on? Then what its threads wrote down is still wanted,
 * as long as the log describes all blocks. */
bool session_stopped_here(void);
/* Is the process that reads what is recorded gone? */
bool session_host_is_gone(void);
/* Ends the recording of this process. `why` (or NULL) is what the user is told. */
void session_stop(const char *why);
/* Why, where a process may not make files as large as ours. */
#define SESSION_FILE_TOO_LARGE \
    "its limit on the size of files (RLIMIT_FSIZE) holds for the recorder's too"
/* Why, where it has used up its descriptors and may not have more. */
#define SESSION_NO_DESCRIPTOR "no descriptor is left for the recorder's files (RLIMIT_NOFILE)"
/* Tells the host that there is something to read. */
void session_ring_doorbell(void);
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

/* Where a file of ours is mapped, if there is room. */
void *session_place(size_t bytes);

/* Appends whole frames to the meta log. */
void session_meta(const void *frame, size_t bytes);

#endif
