/* The binary layout that the client shares with the host. The Rust side of the same facts:
 * crates/trace/src/{record.rs,block/layout.rs} (words and meta log) and
 * crates/tracer/src/channel/ (shared files). All little-endian. */
#ifndef PRESTORE_WIRE_H
#define PRESTORE_WIRE_H

#include <stdint.h>

#define WIRE_VERSION 1

/* Ids of special records (low half of a header word; the high half is the payload's words). */
enum {
    REC_END = 0,
    REC_CUT = 1,   /* pc */
    REC_ALLOC = 2, /* address, bytes, caller pc, kind */
    REC_FREE = 3,  /* address, caller pc */
    REC_SKIP = 4,  /* instructions */
    REC_TIME = 5,  /* time-stamp counter */
    REC_STAMP = 6, /* time-stamp counter, before a block with an atomic and behind it */
    REC_SPAWN = 7, /* time-stamp counter, before a thread or process is made */
    REC_MAPPED = 8, /* address, bytes, offset in the file, its number (META_FILE), flags */
    REC_SYNCED = 9, /* address, bytes: written back by msync */
    REC_BYTES = 10, /* address, bytes, enum bytes_what, data (none: zeros) */
    REC_WINDOW = 11, /* number: the thread goes on in this one of the windows (option burst) */
    REC_FIRST_BLOCK = 64,
};
#define REC_HEADER(id, words) ((uint64_t)(id) | ((uint64_t)(words) << 32))

/* Of REC_BYTES: why memory has them. */
enum bytes_what {
    BYTES_STORED = 0,   /* the last instruction of the execution before */
    BYTES_KERNEL = 1,   /* a system call or a signal's frame */
    BYTES_IMAGE = 2,    /* they were there: when recording began, or in what was mapped */
    BYTES_GONE = 3,     /* no data: not mapped any more, or the frame of a handler that has returned */
    BYTES_UNKNOWN = 4,  /* no data: from now on others write there unseen */
    BYTES_MOVED = 5,    /* data: the address that they have come from */
    BYTES_COMPARED = 6, /* no data: the address is the number of a system call of which is not known
                           what it writes; what has changed near its arguments was recorded */
};

/* Flags of REC_MAPPED. */
#define MAPPED_WRITABLE 1

enum { ALLOC_MALLOC = 0, ALLOC_NEW = 1, ALLOC_MMAP = 2, ALLOC_BRK = 3 };

/* Frames of the meta log: u32 type, u32 payload bytes (multiple of 8), payload. */
enum {
    META_BLOCK = 1,
    META_MODULE = 2,
    META_UNLOAD = 3,
    META_UNKNOWN_OPCODE = 4,
    META_PROCESS = 5,
    META_FILE = 6,
    META_SHARED = 7,
    META_MOVED = 8,
};

enum ref_kind {
    KIND_LOAD = 0,
    KIND_STORE = 1,
    KIND_NT_STORE = 2,
    KIND_ATOMIC = 3,
    KIND_CLFLUSH = 4,
    KIND_CLFLUSHOPT = 5,
    KIND_CLWB = 6,
    KIND_CLDEMOTE = 10,
    KIND_SFENCE = 12,
    KIND_LFENCE = 13,
    KIND_MFENCE = 14,
    KIND_REGION_BEGIN = 15,
    KIND_REGION_END = 16,
};

enum ref_mode {
    MODE_PLAIN = 0,
    MODE_REP = 1,
    MODE_REP_UNTIL = 2,
    MODE_MASKED = 3,
    MODE_INDEXED = 4,
    MODE_PACKED = 5,
    MODE_XSAVE = 6,
    MODE_BIT = 7,
    MODE_TILE = 8, /* `lanes`: which tile */
};

#define NO_SLOT 0xffff

/* `aux` of a plain store: the value with the flags behind a compare and exchange, which has stored
 * only if they say equal. */

/* Of MODE_XSAVE, `extra`: which parts of the requested state it touches, and where. All but the first have the area's header behind the
 * instruction, XSTATE_BV and XCOMP_BV, in two words from `index` on. */
enum xsave_form {
    XSAVE_ALL = 0,       /* all of it */
    XSAVE_COMPACTED = 1, /* what is in use, in the compacted form */
    XSAVE_IN_USE = 2,    /* what is in use */
    XSAVE_RESTORED = 3,  /* what the area has, in either form */
};

/* Of MODE_REP and MODE_REP_UNTIL, `extra`: which way they go. */
enum rep_direction {
    REP_UP = 0,
    REP_DOWN = 1,
    REP_BY_FLAGS = 2, /* plus the slot with the flags */
};

/* What sttilecfg stores. */
#define TILE_CONFIG_WORDS 8

/* `lanes` of a plain reference: at a constant from the stack pointer. */
#define PLAIN_IN_FRAME 1

enum block_end { END_JUMP = 0, END_CALL = 1, END_RET = 2, END_SYSCALL = 3 };

typedef struct __attribute__((packed)) {
    uint16_t instr;
    uint8_t kind;
    uint8_t mode;
    uint32_t pc_delta;
    uint32_t size;
    uint16_t slot;
    uint16_t aux;
    uint16_t index;
    uint16_t value_slot;
    uint8_t scale;
    uint8_t lanes;
    uint16_t extra;
    uint64_t disp;
} wire_ref_t;
_Static_assert(sizeof(wire_ref_t) == 32, "reference layout");

typedef struct __attribute__((packed)) {
    uint32_t id;
    uint32_t instrs;
    uint64_t start_pc;
    uint64_t next_pc;
    uint32_t last_delta;
    uint32_t words;
    uint16_t refs;
    uint8_t end;
    uint8_t has_code; /* behind the lengths */
    uint8_t pad[4];
} wire_block_t;
_Static_assert(sizeof(wire_block_t) == 40, "block layout");

/* Shared files of a session directory:
 *   control            one, made by the host
 *   p-PID-STAMP.meta   a process's meta log, appended by the client
 *   t-PID-TID-STAMP    a thread's ring of buffers (scopes functions and all)
 *   n-PID-TID-STAMP    a thread's block counters (scope count)
 * STAMP tells executions of one pid apart. A file appears under its name when it is ready. */
#define CONTROL_MAGIC 0x4c54434552545350ull /* "PSTRECTL" */
#define RING_MAGIC 0x474e495245525350ull    /* "PSRERING" */
#define LOG_MAGIC 0x474f4c4552545350ull     /* "PSTRELOG" */
#define COUNT_MAGIC 0x544e554f43525350ull   /* "PSRCOUNT" */

/* What the user is to know of a process. Told in shared memory: its own files may be out of its
 * reach by then, and its standard error is the program's. */
enum note_kind {
    NOTE_PRIVILEGED = 1,  /* executes a file with privileges of its own */
    NOTE_TRACED = 2,      /* executes while a debugger holds it */
    NOTE_OWN_ENGINE = 3,  /* executes what brings an engine of its own */
    NOTE_OUT_OF_REACH = 4, /* executes where it cannot reach our files */
    NOTE_FOREIGN = 5,     /* executes machine code of another kind */
    NOTE_SECCOMP = 6,     /* executes under a seccomp filter */
    NOTE_DEBUGGER = 8,    /* executes a debugger */
    NOTE_UNREADABLE = 9,  /* executes a file that may not be read, as the engine has to */
    NOTE_WITHOUT_PATH = 10, /* executes a file that has no path */
    NOTE_HELD = 11,       /* let its parent control it, and executed nothing */
    NOTE_STOPPED = 7,     /* goes on unrecorded, for the reason given */
};
#define CONTROL_NOTES 31
typedef struct {
    volatile uint32_t ready;
    uint32_t kind;
    uint32_t pid;
    char text[116]; /* the file, or the reason; ends with a zero */
} wire_note_t;
_Static_assert(sizeof(wire_note_t) == 128, "note layout");

typedef struct {
    uint64_t magic;
    uint32_t version;
    volatile uint32_t doorbell; /* futex: something was handed over */
    volatile uint32_t asleep;   /* the host waits on the doorbell */
    volatile uint32_t files;    /* how often a file appeared */
    volatile uint32_t stop;     /* the host asks the clients to stop recording */
    volatile uint32_t notes;    /* how many were begun, those without a place included */
    uint8_t pad[96];
    wire_note_t note[CONTROL_NOTES];
} wire_control_t;
_Static_assert(sizeof(wire_control_t) == 4096, "control layout");

/* At the beginning of a meta log, before its frames. */
typedef struct {
    uint64_t magic;
    volatile uint64_t bytes; /* of the log, this included, that are complete */
} wire_log_t;
#define LOG_HEADER_BYTES 64
#define LOG_HEADER_PAGE 4096

/* Windows and regions: what a thread has executed so far. Brought up to date now and then, and when
 * the thread ends. */
typedef struct {
    volatile uint64_t recorded; /* instructions */
    volatile uint64_t skipped;  /* instructions */
    volatile uint64_t regions;  /* how often it began a region that was asked for */
} wire_tally_t;

#define RING_HEADER_BYTES 4096
#define RING_MAX_SLOTS 64

typedef struct {
    uint64_t magic;
    uint32_t version;
    uint32_t pid;
    uint32_t tid;
    uint32_t slots;
    uint32_t slot_words;
    volatile uint32_t ended; /* the thread has handed over everything */
    uint64_t stamp;          /* of its process's files */
    wire_tally_t tally;
    volatile uint32_t produced; /* buffers handed over since the start */
    uint8_t pad1[60];
    volatile uint32_t consumed; /* futex: buffers the host gave back, zeroed */
    volatile uint32_t waiting;  /* the thread waits on `consumed` */
    /* Of those buffers, if the host counts; in instructions. */
    volatile uint64_t executed;        /* by the thread */
    volatile uint64_t executed_in_all; /* by all threads of the process, at that time */
    uint8_t pad2[40];
    volatile uint32_t used[RING_MAX_SLOTS]; /* words in each buffer handed over */
} wire_ring_t;

typedef struct {
    uint64_t magic;
    uint32_t version;
    uint32_t pid;
    uint32_t tid;
    uint32_t capacity; /* counters */
    volatile uint32_t ended;
    uint32_t pad;
    uint64_t stamp;
    wire_tally_t tally;
} wire_count_t;
#define COUNT_HEADER_BYTES 4096

#endif
