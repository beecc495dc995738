#define _GNU_SOURCE
#include "proc_files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dr_api.h"
#include "drmgr.h"
#include "environment.h"
#include "personality.h"
#include "proc_copies.h"
#include "proc_maps.h"
#include "proc_paths.h"
#include "proc_program.h"
#include "proc_query.h"
#include "proc_signals.h"
#include "proc_sizes.h"
#include "seccomp.h"
#include "text.h"

/* The kernel describes the process with the engine in it. Where the program opens such a file, it
 * gets one in memory with what is its own. */

static void
filter_environment(const text_t *from, text_t *to)
{
    size_t at = 0;
    while (at < from->length) {
        const char *variable = from->at + at;
        size_t length = strnlen(variable, from->length - at);
        size_t whole = at + length < from->length ? length + 1 : length;
        if (whole == length || !environment_is_engines(variable))
            text_add(to, variable, whole);
        at += whole;
    }
}

static void
in_turn(void (*first)(const text_t *, text_t *), void (*second)(const text_t *, text_t *),
        const text_t *from, text_t *to)
{
    text_t between = { 0 };
    first(from, &between);
    second(&between, to);
    text_free(&between);
}

static text_t
content(const file_of_t *file)
{
    text_t filtered = { 0 };
    if (file->kind == AUXV) {
        size_t bytes;
        const void *auxv = environment_auxv(&bytes);
        if (auxv != NULL)
            text_add(&filtered, auxv, bytes);
        return filtered;
    }
    text_t text = text_of_file(file->path);
    if (file->kind == MAPS)
        proc_maps_filter(text.at, text.length, file->own, &filtered);
    else if (file->kind == STATUS)
        in_turn(proc_signals_status, proc_sizes_status, &text, &filtered);
    else if (file->kind == STAT && text.length > 0)
        in_turn(proc_signals_stat, proc_sizes_stat, &text, &filtered);
    else if (file->kind == STATM)
        proc_sizes_statm(&text, &filtered);
    else if (file->kind == ROLLUP)
        proc_sizes_rollup(&text, &filtered);
    else if (file->kind == PERSONALITY && text.length > 0)
        personality_filter(&text, &filtered);
    else
        filter_environment(&text, &filtered);
    text_free(&text);
    return filtered;
}

/* It holds all that it is to hold, and is read from now on, under the same number. */
static void
make_readable_only(long file, uint64 flags)
{
    char path[32];
    dr_snprintf(path, sizeof(path), "/proc/self/fd/%ld", file);
    file_t reader = dr_open_aside(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (reader < 0)
        return;
    syscall(SYS_dup3, reader, file, flags & O_CLOEXEC);
    syscall(SYS_close, reader);
}

static bool
write_all(long file, const text_t *text)
{
    size_t done = 0;
    while (file >= 0 && done < text->length) {
        long written = syscall(SYS_write, file, text->at + done, text->length - done);
        if (written <= 0)
            break;
        done += (size_t)written;
    }
    return file >= 0 && done == text->length;
}

/* The kernel's files tell of now whenever they are read from the beginning: so do copies. */
static void
renew_copy(long number)
{
    char path[32];
    file_of_t of;
    if (!proc_copies_find(number, &of))
        return;
    text_t text = content(&of);
    dr_snprintf(path, sizeof(path), "/proc/self/fd/%ld", number);
    file_t writer = text.length == 0 ? -1 : dr_open_aside(AT_FDCWD, path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    write_all(writer, &text);
    if (writer >= 0)
        syscall(SYS_close, writer);
    text_free(&text);
}

/* The result of opening a file with `text`: the kernel's, an error being negative. */
static long
open_text(const text_t *text, uint64 flags)
{
    dr_files_begin();
    long file = syscall(SYS_memfd_create, "proc", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
    write_all(file, text);
    if (file >= 0)
        syscall(SYS_lseek, file, 0L, SEEK_SET);
    if (file >= 0 && (flags & O_ACCMODE) == O_RDONLY)
        make_readable_only(file, flags);
    dr_files_end();
    return file;
}

static bool
before_syscall(void *drcontext, int number)
{
    if (proc_program_call(drcontext, number) || proc_query_call(drcontext, number))
        return false;
    bool rewinds = number == SYS_lseek && dr_syscall_get_param(drcontext, 1) == 0 &&
        dr_syscall_get_param(drcontext, 2) == SEEK_SET;
    if (rewinds || (number == SYS_pread64 && dr_syscall_get_param(drcontext, 3) == 0))
        renew_copy((int)dr_syscall_get_param(drcontext, 0));
    if (number != SYS_open && number != SYS_openat)
        return true;
    int first = number == SYS_openat;
    uint64 flags = dr_syscall_get_param(drcontext, first + 1);
    if ((flags & (O_ACCMODE | O_PATH | O_DIRECTORY | O_NOFOLLOW)) != O_RDONLY)
        return true;
    int dir = first == 0 ? AT_FDCWD : (int)dr_syscall_get_param(drcontext, 0);
    file_of_t file = proc_file_at(dir, dr_syscall_get_param(drcontext, first));
    if (file.kind == OTHER || file.kind == EXE ||
        (!file.own && file.kind != MAPS && file.kind != ENVIRON && file.kind != PERSONALITY))
        return true;
    text_t text = content(&file);
    long result = text.length == 0 ? -1 : open_text(&text, flags);
    text_free(&text);
    if (result < 0)
        return true; /* the kernel says why */
    if (file.own)
        proc_copies_add(result, &file);
    dr_syscall_set_result(drcontext, (reg_t)result);
    return false;
}

static void
after_syscall(void *drcontext, int number)
{
    if (number == SYS_brk)
        proc_maps_brk(dr_syscall_get_result(drcontext));
}

void
proc_files_init(void)
{
    proc_copies_init();
    seccomp_before_allowed(before_syscall, NULL);
    drmgr_register_post_syscall_event(after_syscall);
}
