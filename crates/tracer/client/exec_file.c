#define _GNU_SOURCE
#include "exec_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "execveat.h"
#include "proc_maps.h"
#include "proc_paths.h"
#include "proc_program.h"

/* The engine opens by its path what it is executed for. A link to one of the process's descriptors leads nowhere then, if the
 * descriptor is closed, and its link to the program leads to the engine. */

/* How the kernel calls what is at `path`; true: that is a path to it. */
static bool
real_path(const char *path, char *real)
{
    char link[32];
    struct stat asked, found;
    real[0] = '\0';
    int file = dr_open_aside(AT_FDCWD, path, O_PATH | O_CLOEXEC);
    if (file < 0)
        return false;
    dr_snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    long got = syscall(SYS_readlinkat, AT_FDCWD, link, real, MAXIMUM_PATH - 1);
    real[got > 0 ? got : 0] = '\0';
    bool same = syscall(SYS_fstat, file, &asked) == 0 && got > 0 && syscall(SYS_stat, real, &found) == 0 &&
        asked.st_dev == found.st_dev && asked.st_ino == found.st_ino;
    syscall(SYS_close, file);
    return same;
}

static bool
is_of_process(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/dev/fd/", 8) == 0;
}

exec_file_t
exec_file_find(const char *given)
{
    char real[MAXIMUM_PATH];
    exec_file_t file = { AS_GIVEN, false, "" };
    dr_snprintf(file.path, sizeof(file.path) - 1, "%s", given);
    bool found = real_path(given, real);
    if (proc_maps_is_engine(real)) {
        if (!proc_program_behind(proc_file_at(AT_FDCWD, (reg_t)given), file.path))
            return file;
        file.engine = true;
        found = real_path(file.path, real);
    } else if (!is_of_process(given) || execveat_is_script(AT_FDCWD, given))
        return file; /* a script's interpreter is told by which name it was executed */
    file.place = found ? ELSEWHERE : NO_PATH;
    if (found)
        dr_snprintf(file.path, sizeof(file.path) - 1, "%s", real);
    return file;
}
