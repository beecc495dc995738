#define _GNU_SOURCE
#include "proc_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dr_api.h"
#include "drmgr.h"
#include "environment.h"
#include "peek.h"
#include "proc_maps.h"
#include "text.h"

/* The kernel describes the process with the engine in it. Where the program opens such a file, it
 * gets one in memory with what is its own. */

typedef enum { OTHER, MAPS, ENVIRON, AUXV, EXE } file_kind_t;

static const struct {
    const char *name;
    file_kind_t kind;
} FILES[] = {
    { "maps", MAPS }, { "smaps", MAPS }, { "environ", ENVIRON }, { "auxv", AUXV }, { "exe", EXE },
};

/* Behind "/proc/": the process, if it is this one, and a task of it perhaps. */
static const char *
skip_own(const char *at)
{
    char *behind;
    if (strncmp(at, "self/", 5) == 0)
        at += 5;
    else if (strncmp(at, "thread-self/", 12) == 0)
        at += 12;
    else if (strtol(at, &behind, 10) == syscall(SYS_getpid) && *behind == '/')
        at = behind + 1;
    else
        return NULL;
    if (strncmp(at, "task/", 5) == 0) {
        at = strchr(at + 5, '/');
        return at == NULL ? NULL : at + 1;
    }
    return at;
}

static file_kind_t
kind_of(const char *path)
{
    if (strncmp(path, "/proc/", 6) != 0)
        return OTHER;
    const char *name = skip_own(path + 6);
    for (size_t i = 0; name != NULL && i < sizeof(FILES) / sizeof(FILES[0]); i++) {
        if (strcmp(name, FILES[i].name) == 0)
            return FILES[i].kind;
    }
    return OTHER;
}

/* All that the kernel says; nothing where it says nothing. */
static text_t
read_all(const char *path)
{
    text_t text = { 0 };
    char part[4096];
    long got;
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && (got = syscall(SYS_read, file, part, sizeof(part))) > 0)
        text_add(&text, part, (size_t)got);
    if (file >= 0)
        syscall(SYS_close, file);
    return text;
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
content(file_kind_t kind, const char *path)
{
    text_t filtered = { 0 };
    if (kind == AUXV) {
        size_t bytes;
        const void *auxv = environment_auxv(&bytes);
        if (auxv != NULL)
            text_add(&filtered, auxv, bytes);
        return filtered;
    }
    text_t text = read_all(path);
    if (kind == MAPS)
        proc_maps_filter(text.at, text.length, &filtered);
    else
        filter_environment(&text, &filtered);
    text_free(&text);
    return filtered;
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
    return file;
}

static bool
before_syscall(void *drcontext, int number)
{
    char path[64];
    if (number != SYS_open && number != SYS_openat)
        return true;
    int first = number == SYS_openat;
    uint64 flags = dr_syscall_get_param(drcontext, first + 1);
    peek_text((const void *)dr_syscall_get_param(drcontext, first), path, sizeof(path));
    file_kind_t kind = kind_of(path);
    if (kind == OTHER || (flags & (O_ACCMODE | O_PATH | O_DIRECTORY | O_NOFOLLOW)) != O_RDONLY)
        return true;
    long result;
    if (kind == EXE) {
        module_data_t *program = dr_get_main_module();
        result = program == NULL ? -1 : syscall(SYS_openat, AT_FDCWD, program->full_path, (int)flags);
        dr_free_module_data(program);
    } else {
        text_t text = content(kind, path);
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
