#define _GNU_SOURCE
#include "proc_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bytes.h"
#include "dr_api.h"
#include "drmgr.h"
#include "environment.h"
#include "options.h"
#include "peek.h"
#include "personality.h"
#include "proc_maps.h"
#include "proc_signals.h"
#include "text.h"

/* The kernel describes the process with the engine in it. Where the program opens such a file, it
 * gets one in memory with what is its own. */

typedef enum { OTHER, MAPS, ENVIRON, AUXV, EXE, STATUS, STAT, PERSONALITY } file_kind_t;

static const struct {
    const char *name;
    file_kind_t kind;
} FILES[] = {
    { "maps", MAPS }, { "smaps", MAPS }, { "environ", ENVIRON }, { "auxv", AUXV },
    { "exe", EXE },   { "status", STATUS }, { "stat", STAT },       { "personality", PERSONALITY },
};

typedef struct {
    file_kind_t kind;
    bool own; /* of this process, not of another that may be recorded too */
} file_of_t;

/* Our number in /proc, which may be of another process namespace than the one that we are in; 0: none. */
static long
own_number(void)
{
    char number[16] = "";
    syscall(SYS_readlinkat, AT_FDCWD, "/proc/self", number, sizeof(number) - 1);
    return strtol(number, NULL, 10);
}

/* So may its other threads', which are files without being listed. */
static bool
is_own(long number)
{
    char task[40];
    dr_snprintf(task, sizeof(task), "/proc/self/task/%ld", number);
    return number == own_number() || syscall(SYS_faccessat, AT_FDCWD, task, F_OK) == 0;
}

/* Behind "/proc/": a process, and a task of it perhaps; NULL: neither. */
static const char *
skip_process(const char *at, bool *own)
{
    char *behind;
    *own = true;
    if (strncmp(at, "self/", 5) == 0)
        at += 5;
    else if (strncmp(at, "thread-self/", 12) == 0)
        at += 12;
    else {
        *own = is_own(strtol(at, &behind, 10));
        if (behind == at || *behind != '/')
            return NULL;
        at = behind + 1;
    }
    if (strncmp(at, "task/", 5) == 0) {
        at = strchr(at + 5, '/');
        return at == NULL ? NULL : at + 1;
    }
    return at;
}

static file_of_t
file_of(const char *path)
{
    file_of_t file = { OTHER, false };
    if (strncmp(path, "/proc/", 6) != 0)
        return file;
    const char *name = skip_process(path + 6, &file.own);
    for (size_t i = 0; name != NULL && i < sizeof(FILES) / sizeof(FILES[0]); i++) {
        if (strcmp(name, FILES[i].name) == 0)
            file.kind = FILES[i].kind;
    }
    return file;
}

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

static text_t
content(file_of_t file, const char *path)
{
    text_t filtered = { 0 };
    if (file.kind == AUXV) {
        size_t bytes;
        const void *auxv = environment_auxv(&bytes);
        if (auxv != NULL)
            text_add(&filtered, auxv, bytes);
        return filtered;
    }
    text_t text = text_of_file(path);
    if (file.kind == MAPS)
        proc_maps_filter(text.at, text.length, file.own, &filtered);
    else if (file.kind == STATUS)
        proc_signals_status(&text, &filtered);
    else if (file.kind == STAT && text.length > 0)
        proc_signals_stat(&text, &filtered);
    else if (file.kind == PERSONALITY && text.length > 0)
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
    long reader = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (reader < 0)
        return;
    syscall(SYS_dup3, reader, file, flags & O_CLOEXEC);
    syscall(SYS_close, reader);
}

/* The result of opening a file with `text`: the kernel's, an error being negative. */
static long
open_text(const text_t *text, uint64 flags)
{
    long file = syscall(SYS_memfd_create, "proc", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
    for (size_t done = 0; file >= 0 && done < text->length;) {
        long written = syscall(SYS_write, file, text->at + done, text->length - done);
        if (written <= 0)
            break;
        done += (size_t)written;
    }
    if (file >= 0)
        syscall(SYS_lseek, file, 0L, SEEK_SET);
    if (file >= 0 && (flags & O_ACCMODE) == O_RDONLY)
        make_readable_only(file, flags);
    return file;
}

/* Gives the program where `program` leads to as the result of its readlink. */
static bool
answer_link(void *drcontext, int first, const char *program)
{
    char link[32], target[MAXIMUM_PATH];
    size_t written, room = dr_syscall_get_param(drcontext, first + 2);
    int file = (int)syscall(SYS_openat, AT_FDCWD, program, O_PATH | O_CLOEXEC);
    if (file < 0)
        return false;
    dr_snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    long got = syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof(target));
    syscall(SYS_close, file);
    size_t length = got < 0 ? 0 : (size_t)got < room ? (size_t)got : room;
    if (length == 0 || !dr_safe_write((void *)dr_syscall_get_param(drcontext, first + 1), length,
                                      target, &written))
        return false;
    if (options.values)
        bytes_now(drcontext, BYTES_KERNEL, dr_syscall_get_param(drcontext, first + 1), length);
    dr_syscall_set_result(drcontext, length);
    return true;
}

/* The link to the program of a process that is recorded leads to the engine; what that was started
 * with tells the program. False: it is not such a link. */
static bool
read_link(void *drcontext, int first)
{
    static const char name[] = "DYNAMORIO_EXE_PATH=";
    char path[64], target[MAXIMUM_PATH];
    peek_text((const void *)dr_syscall_get_param(drcontext, first), path, sizeof(path));
    if (file_of(path).kind != EXE)
        return false;
    long got = syscall(SYS_readlinkat, AT_FDCWD, path, target, sizeof(target) - 1);
    if (got <= 0)
        return false;
    target[got] = '\0';
    if (!proc_maps_is_engine(target))
        return false;
    strcpy(strrchr(path, '/'), "/environ");
    text_t text = text_of_file(path);
    text_add(&text, "", 1);
    bool found = false;
    for (size_t at = 0; at < text.length && !found; at += strlen(text.at + at) + 1) {
        if (strncmp(text.at + at, name, strlen(name)) == 0)
            found = answer_link(drcontext, first, text.at + at + strlen(name));
    }
    text_free(&text);
    return found;
}

/* What the link of this process leads to, asked for by its name, is the program. */
static bool
ask_of_program(void *drcontext, int number)
{
    char path[64];
    int first = number != SYS_stat;
    int flags = number == SYS_stat ? 0 : (int)dr_syscall_get_param(drcontext, number == SYS_statx ? 2 : 3);
    peek_text((const void *)dr_syscall_get_param(drcontext, first), path, sizeof(path));
    file_of_t file = file_of(path);
    module_data_t *program;
    if (file.kind != EXE || !file.own || (flags & AT_SYMLINK_NOFOLLOW) != 0 ||
        (program = dr_get_main_module()) == NULL)
        return false;
    reg_t into = dr_syscall_get_param(drcontext, number == SYS_statx ? 4 : first + 1);
    long result = number == SYS_statx
        ? syscall(SYS_statx, AT_FDCWD, program->full_path, flags, dr_syscall_get_param(drcontext, 3), into)
        : syscall(SYS_newfstatat, AT_FDCWD, program->full_path, into, flags);
    dr_free_module_data(program);
    if (result != 0)
        return false; /* the kernel says why */
    if (options.values)
        bytes_now(drcontext, BYTES_KERNEL, into, number == SYS_statx ? sizeof(struct statx) : sizeof(struct stat));
    dr_syscall_set_result(drcontext, 0);
    return true;
}

static bool
before_syscall(void *drcontext, int number)
{
    char path[64];
    if (number == SYS_stat || number == SYS_newfstatat || number == SYS_statx)
        return !ask_of_program(drcontext, number);
    if (number == SYS_readlink || number == SYS_readlinkat)
        return !read_link(drcontext, number == SYS_readlinkat);
    if (number != SYS_open && number != SYS_openat)
        return true;
    int first = number == SYS_openat;
    uint64 flags = dr_syscall_get_param(drcontext, first + 1);
    peek_text((const void *)dr_syscall_get_param(drcontext, first), path, sizeof(path));
    file_of_t file = file_of(path);
    if (file.kind == OTHER || (!file.own && file.kind != MAPS && file.kind != ENVIRON && file.kind != PERSONALITY) ||
        (flags & (O_ACCMODE | O_PATH | O_DIRECTORY | O_NOFOLLOW)) != O_RDONLY)
        return true;
    long result;
    if (file.kind == EXE) {
        module_data_t *program = dr_get_main_module();
        result = program == NULL ? -1 : syscall(SYS_openat, AT_FDCWD, program->full_path, (int)flags);
        dr_free_module_data(program);
    } else {
        text_t text = content(file, path);
        result = text.length == 0 ? -1 : open_text(&text, flags);
        text_free(&text);
    }
    if (result < 0)
        return true; /* the kernel says why */
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
    drmgr_register_pre_syscall_event(before_syscall);
    drmgr_register_post_syscall_event(after_syscall);
}
