#define _GNU_SOURCE
#include "proc_program.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bytes.h"
#include "options.h"
#include "peek.h"
#include "proc_maps.h"
#include "proc_paths.h"
#include "text.h"

/* The program's file, which may be renamed, replaced or deleted while it runs. */
static file_t program_file = INVALID_FILE;

void
proc_program_init(void)
{
    module_data_t *program = dr_get_main_module();
    if (program != NULL)
        program_file = dr_open_file(program->full_path, DR_FILE_READ); /* the program cannot close it */
    dr_free_module_data(program);
}

/* A path that leads to it: beside the link `exe` are those to the descriptors. */
static bool
beside(const char *exe, char *path)
{
    if (program_file < 0)
        return false;
    dr_snprintf(path, MAXIMUM_PATH - 1, "%.*s/fd/%d", (int)(strrchr(exe, '/') - exe), exe, program_file);
    path[MAXIMUM_PATH - 1] = '\0';
    return true;
}

/* By the parameter with the path, behind which the folder stands unless it is the first. */
static file_of_t
link_at(void *drcontext, int path)
{
    int dir = path == 0 ? AT_FDCWD : (int)dr_syscall_get_param(drcontext, path - 1);
    return proc_file_at(dir, dr_syscall_get_param(drcontext, path));
}

/* What the link to `program` reads; its length. */
static size_t
read_target(const char *program, char *target, size_t size)
{
    char link[32];
    int file = dr_open_aside(AT_FDCWD, program, O_PATH | O_CLOEXEC);
    if (file == -ENOENT)
        return (size_t)dr_snprintf(target, size, "%s (deleted)", program);
    if (file < 0)
        return 0;
    dr_snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    long got = syscall(SYS_readlinkat, AT_FDCWD, link, target, size);
    syscall(SYS_close, file);
    return got < 0 ? 0 : (size_t)got;
}

/* Gives the program, as the result of its readlink, where its link leads to. */
static bool
answer_link(void *drcontext, int first, const char *target, size_t length)
{
    int room = (int)dr_syscall_get_param(drcontext, first + 2);
    size_t written;
    if (room <= 0)
        return false;
    if (length > (size_t)room)
        length = (size_t)room;
    if (length == 0 || !dr_safe_write((void *)dr_syscall_get_param(drcontext, first + 1), length,
                                      target, &written))
        return false;
    if (options.values)
        bytes_now(drcontext, BYTES_KERNEL, dr_syscall_get_param(drcontext, first + 1), length);
    dr_syscall_set_result(drcontext, length);
    return true;
}

/* What another process was started with tells which its program is. */
static bool
started_with(const char *exe, char *path)
{
    static const char name[] = "DYNAMORIO_EXE_PATH=";
    char environment[PROC_PATH + sizeof("/environ")];
    dr_snprintf(environment, sizeof(environment), "%.*s/environ", (int)(strrchr(exe, '/') - exe), exe);
    text_t text = text_of_file(environment);
    text_add(&text, "", 1);
    bool found = false;
    for (size_t at = 0; at < text.length && !found; at += strlen(text.at + at) + 1) {
        found = strncmp(text.at + at, name, strlen(name)) == 0;
        const char *given = text.at + at + strlen(name);
        /* From where it was, which is mostly where it still is. */
        if (found && given[0] == '/')
            dr_snprintf(path, MAXIMUM_PATH - 1, "%s", given);
        else if (found)
            dr_snprintf(path, MAXIMUM_PATH - 1, "%.*s/cwd/%s", (int)(strrchr(exe, '/') - exe), exe, given);
    }
    text_free(&text);
    return found;
}

bool
proc_program_behind(file_of_t link, char *path)
{
    if (link.kind == EXE && !link.own)
        return started_with(link.path, path);
    return beside(link.kind == EXE ? link.path : "/proc/self/exe", path);
}

/* Is it the link to the program of a process that is recorded, which the kernel has lead to the engine? Then with a path to the program. */
static bool
is_program_link(file_of_t file, char *program)
{
    char target[MAXIMUM_PATH];
    if (file.kind != EXE)
        return false;
    /* Of another task there is none, nor where /proc is not. */
    long got = syscall(SYS_readlinkat, AT_FDCWD, file.path, target, sizeof(target) - 1);
    if (got <= 0)
        return false;
    target[got] = '\0';
    return proc_maps_is_engine(target) && proc_program_behind(file, program);
}

static bool
read_link(void *drcontext, int first)
{
    char target[MAXIMUM_PATH], program[MAXIMUM_PATH];
    file_of_t file = link_at(drcontext, first);
    if (!is_program_link(file, program))
        return false;
    long got = file.own ? syscall(SYS_readlinkat, AT_FDCWD, program, target, sizeof(target))
                        : (long)read_target(program, target, sizeof(target));
    return got > 0 && got <= (long)sizeof(target) && answer_link(drcontext, first, target, (size_t)got);
}

/* What the link leads to, asked for by its name, is the program. */
static bool
ask_of_program(void *drcontext, int number)
{
    int first = number != SYS_stat;
    int flags = number == SYS_stat ? 0 : (int)dr_syscall_get_param(drcontext, number == SYS_statx ? 2 : 3);
    char program[MAXIMUM_PATH];
    if ((flags & AT_SYMLINK_NOFOLLOW) != 0 || !is_program_link(link_at(drcontext, first), program))
        return false;
    reg_t into = dr_syscall_get_param(drcontext, number == SYS_statx ? 4 : first + 1);
    long result = number == SYS_statx
        ? syscall(SYS_statx, AT_FDCWD, program, flags, dr_syscall_get_param(drcontext, 3), into)
        : syscall(SYS_newfstatat, AT_FDCWD, program, into, flags);
    if (result != 0)
        return false; /* the kernel says why */
    if (options.values)
        bytes_now(drcontext, BYTES_KERNEL, into, number == SYS_statx ? sizeof(struct statx) : sizeof(struct stat));
    dr_syscall_set_result(drcontext, 0);
    return true;
}

/* Flags of a call that opens what is at a path; false: it opens nothing, or by rules of its own. */
static bool
opens(void *drcontext, int number, uint64 *flags)
{
    struct open_how how;
    reg_t given = dr_syscall_get_param(drcontext, number == SYS_open ? 1 : 2);
    switch (number) {
    case SYS_open:
    case SYS_openat:
        if ((given & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
            return false;
        *flags = given & ~(reg_t)O_CREAT; /* it is there */
        break;
    case SYS_openat2:
        if (dr_syscall_get_param(drcontext, 3) < sizeof(how) ||
            peek((const void *)given, &how, sizeof(how)) != sizeof(how) || how.resolve != 0)
            return false;
        *flags = how.flags;
        break;
    default: return false;
    }
    /* Writing to it is refused elsewhere, and as the kernel refuses it for the engine. */
    return (*flags & (O_DIRECTORY | O_NOFOLLOW | O_CREAT | O_TRUNC)) == 0 &&
        ((*flags & O_PATH) != 0 || (*flags & O_ACCMODE) == O_RDONLY || (*flags & O_ACCMODE) == O_ACCMODE);
}

static bool
open_program(void *drcontext, int number)
{
    uint64 flags;
    char program[MAXIMUM_PATH];
    if (!opens(drcontext, number, &flags) || !is_program_link(link_at(drcontext, number != SYS_open), program))
        return false;
    dr_files_begin();
    long result = number == SYS_openat2
        ? syscall(SYS_openat2, AT_FDCWD, program, dr_syscall_get_param(drcontext, 2),
                  dr_syscall_get_param(drcontext, 3))
        : syscall(SYS_openat, AT_FDCWD, program, (int)flags);
    dr_files_end();
    if (result < 0)
        return false; /* the kernel says why */
    dr_syscall_set_result(drcontext, (reg_t)result);
    return true;
}

/* The parameter with the path, where the call makes of what is there a file that is elsewhere too: container runtimes do so,
 * lest theirs be overwritten; -1: it is no such call. */
static int
path_to_mount(void *drcontext, int number)
{
    switch (number) {
    case SYS_mount: return 0;
    case SYS_open_tree: return (dr_syscall_get_param(drcontext, 2) & AT_SYMLINK_NOFOLLOW) == 0 ? 1 : -1;
    case SYS_linkat: return (dr_syscall_get_param(drcontext, 4) & AT_SYMLINK_FOLLOW) != 0 ? 1 : -1;
    default: return -1;
    }
}

static bool
mount_program(void *drcontext, int number)
{
    reg_t p[5];
    char program[MAXIMUM_PATH];
    int path = path_to_mount(drcontext, number);
    if (path < 0 || !is_program_link(link_at(drcontext, path), program))
        return false;
    for (int i = 0; i < 5; i++)
        p[i] = dr_syscall_get_param(drcontext, i);
    p[path] = (reg_t)program;
    long result = syscall(number, p[0], p[1], p[2], p[3], p[4]);
    int error = errno;
    dr_syscall_set_result(drcontext, (reg_t)(result == -1 ? -error : result));
    return true;
}

bool
proc_program_call(void *drcontext, int number)
{
    switch (number) {
    case SYS_stat:
    case SYS_newfstatat:
    case SYS_statx: return ask_of_program(drcontext, number);
    case SYS_readlink:
    case SYS_readlinkat: return read_link(drcontext, number == SYS_readlinkat);
    case SYS_mount:
    case SYS_open_tree:
    case SYS_linkat: return mount_program(drcontext, number);
    default: return open_program(drcontext, number);
    }
}
