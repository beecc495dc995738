#define _GNU_SOURCE
#include "proc_paths.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "peek.h"

static const struct {
    const char *name;
    file_kind_t kind;
} FILES[] = {
    { "maps", MAPS }, { "smaps", MAPS }, { "environ", ENVIRON }, { "auxv", AUXV },
    { "exe", EXE },   { "status", STATUS }, { "stat", STAT },       { "personality", PERSONALITY },
    { "statm", STATM }, { "smaps_rollup", ROLLUP },
};

static file_kind_t
kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof(FILES) / sizeof(FILES[0]); i++) {
        if (strcmp(name, FILES[i].name) == 0)
            return FILES[i].kind;
    }
    return OTHER;
}

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
    file_of_t file = { OTHER, false, "" };
    const char *name = strncmp(path, "/proc/", 6) == 0 ? skip_process(path + 6, &file.own) : NULL;
    if (name == NULL || strlen(path) >= PROC_PATH)
        return file;
    file.kind = kind_of(name);
    dr_snprintf(file.path, sizeof(file.path), "%s", path);
    return file;
}

/* How the kernel calls what is there. */
static bool
name_of(int dir, const char *path, char *to, size_t size)
{
    char link[32];
    file_t file = dr_open_aside(dir, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return false;
    dr_snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    long got = syscall(SYS_readlinkat, AT_FDCWD, link, to, size - 1);
    syscall(SYS_close, file);
    to[got > 0 ? got : 0] = '\0';
    return got > 0;
}

file_of_t
proc_file_at(int dir, reg_t given)
{
    char path[MAXIMUM_PATH];
    peek_text((const void *)given, path, sizeof(path));
    file_of_t file = file_of(path);
    const char *slash = strrchr(path, '/');
    if (file.kind == OTHER && kind_of(slash == NULL ? path : slash + 1) != OTHER &&
        name_of(dir, path, path, sizeof(path)))
        file = file_of(path);
    return file;
}
