#define _GNU_SOURCE
#include "proc_signals.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "signals.h"

/* The engine handles all signals, and faults even where the program blocks or ignores them. What is
 * sent of those meanwhile waits in it, beside what waits in the kernel. */

enum { PENDING, SHARED, BLOCKED, IGNORED, CAUGHT, MASKS };

typedef struct {
    unsigned long long of[MASKS];
    bool known; /* what is pending and blocked is told of each thread */
} masks_t;

/* Is `number`, as /proc has it, the calling thread's? */
static bool
is_own_thread(long number)
{
    char link[64];
    long got = syscall(SYS_readlinkat, AT_FDCWD, "/proc/thread-self", link, sizeof(link) - 1);
    if (got <= 0)
        return false;
    link[got] = '\0';
    const char *slash = strrchr(link, '/');
    return slash != NULL && strtol(slash + 1, NULL, 10) == number;
}

static masks_t
masks(long thread)
{
    masks_t m = { .known = is_own_thread(thread) };
    void *own = dr_get_current_drcontext();
    unsigned long long shared = 0;
    engine_signal_masks(own, &m.of[BLOCKED], &m.of[IGNORED], &m.of[CAUGHT]);
    engine_signals_pending(own, &m.of[PENDING], &m.of[SHARED]);
    if (!m.known) {
        m.known = engine_signals_of((int)thread, &m.of[BLOCKED], &m.of[PENDING], &shared);
        m.of[SHARED] |= shared;
    }
    return m;
}

static bool
begins(const char *line, size_t length, const char *with)
{
    return length > strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

static void
add_status_line(const char *line, size_t length, const masks_t *m, text_t *out)
{
    static const char *const names[MASKS] = { "SigPnd:\t", "ShdPnd:\t", "SigBlk:\t", "SigIgn:\t",
                                              "SigCgt:\t" };
    for (int i = 0; i < MASKS; i++) {
        char written[48];
        if (!begins(line, length, names[i]) || ((i == PENDING || i == BLOCKED) && !m->known))
            continue;
        unsigned long long mask = m->of[i];
        if (i == PENDING || i == SHARED)
            mask |= strtoull(line + strlen(names[i]), NULL, 16);
        int n = dr_snprintf(written, sizeof(written), "%s%016llx\n", names[i], mask);
        text_add(out, written, (size_t)n);
        return;
    }
    text_add(out, line, length);
}

static long
number_behind(const text_t *status, const char *name)
{
    for (size_t at = 0; at + strlen(name) < status->length; at++) {
        if ((at == 0 || status->at[at - 1] == '\n') &&
            memcmp(status->at + at, name, strlen(name)) == 0)
            return strtol(status->at + at + strlen(name), NULL, 10);
    }
    return 0;
}

void
proc_signals_status(const text_t *status, text_t *out)
{
    masks_t m = masks(number_behind(status, "Pid:"));
    for (size_t at = 0; at < status->length;) {
        const char *newline = memchr(status->at + at, '\n', status->length - at);
        size_t length = newline == NULL ? status->length - at : (size_t)(newline + 1 - status->at) - at;
        add_status_line(status->at + at, length, &m, out);
        at += length;
    }
}

/* Fields are counted from one, and the second, the name, may have spaces in it. */
#define NAME 2
#define FIRST_MASK 31
static const int fields[] = { PENDING, BLOCKED, IGNORED, CAUGHT };
#define FIELDS (int)(sizeof(fields) / sizeof(fields[0]))

void
proc_signals_stat(const text_t *stat, text_t *out)
{
    masks_t m = masks(strtol(stat->at, NULL, 10));
    const char *end = stat->at + stat->length;
    const char *at = memrchr(stat->at, ')', stat->length);
    text_add(out, stat->at, at == NULL ? stat->length : (size_t)(at + 1 - stat->at));
    for (int field = NAME + 1; at != NULL && ++at < end; field++) {
        const char *space = memchr(at + 1, ' ', (size_t)(end - at - 1));
        const char *behind = space == NULL ? end : space;
        int mask = field >= FIRST_MASK && field < FIRST_MASK + FIELDS ? fields[field - FIRST_MASK] : MASKS;
        bool of_thread = mask == PENDING || mask == BLOCKED;
        if (mask != MASKS && (!of_thread || m.known)) {
            char written[32];
            unsigned long long now = m.of[mask];
            if (mask == PENDING)
                now |= strtoull(at, NULL, 10);
            /* Of the signals that have numbers below 32. */
            int n = dr_snprintf(written, sizeof(written), " %llu", now & 0x7fffffff);
            text_add(out, written, (size_t)n);
        } else {
            text_add(out, at, (size_t)(behind - at));
        }
        at = behind - 1;
    }
}
