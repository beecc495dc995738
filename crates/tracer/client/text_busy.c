#define _GNU_SOURCE
#include "text_busy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dr_api.h"
#include "drmgr.h"
#include "peek.h"
#include "seccomp.h"

/* The kernel refuses to open the file that a process executes for writing. What it executes here is the
 * engine, so that a program could open, and truncate, its own: it is refused in the kernel's place. */

static dev_t device;
static ino_t number; /* 0: unknown */

typedef struct {
    int dir;
    const char *path;
    uint64 flags;
} request_t;

/* Does the call ask to write to what is at a path? */
static bool
asks_to_write(void *drcontext, int call, request_t *request)
{
    reg_t first = dr_syscall_get_param(drcontext, 0), second = dr_syscall_get_param(drcontext, 1);
    request->dir = AT_FDCWD;
    request->path = (const char *)first;
    switch (call) {
    case SYS_open: request->flags = second; break;
    case SYS_creat: request->flags = O_CREAT | O_WRONLY | O_TRUNC; break;
    case SYS_truncate: request->flags = O_WRONLY; break;
    case SYS_openat:
    case SYS_openat2:
        request->dir = (int)first;
        request->path = (const char *)second;
        request->flags = dr_syscall_get_param(drcontext, 2);
        if (call == SYS_openat2) {
            struct open_how how;
            /* What else it restricts decides by itself whether there is a file at all. */
            if (peek((const void *)request->flags, &how, sizeof(how)) != sizeof(how) || how.resolve != 0)
                return false;
            request->flags = how.flags;
        }
        break;
    default: return false;
    }
    if ((request->flags & (O_PATH | O_DIRECTORY)) != 0 ||
        (request->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        return false;
    return (request->flags & O_ACCMODE) != O_RDONLY || (request->flags & O_TRUNC) != 0;
}

/* Some kernels let running files be written: the engine's tells. */
static bool
kernel_refuses(void)
{
    file_t file = dr_open_aside(AT_FDCWD, "/proc/self/exe", O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return true;
    syscall(SYS_close, file);
    return false;
}

static bool
is_program(const request_t *request)
{
    char path[MAXIMUM_PATH];
    struct stat at;
    peek_text(request->path, path, sizeof(path));
    int nofollow = (request->flags & O_NOFOLLOW) != 0 ? AT_SYMLINK_NOFOLLOW : 0;
    return path[0] != '\0' && syscall(SYS_newfstatat, request->dir, path, &at, nofollow) == 0 &&
           at.st_ino == number && at.st_dev == device && S_ISREG(at.st_mode) &&
           /* Who may not write at all is told that first. */
           syscall(SYS_faccessat2, request->dir, path, W_OK, AT_EACCESS | nofollow) == 0;
}

static bool
before_syscall(void *drcontext, int call)
{
    request_t request;
    if (number == 0 || !asks_to_write(drcontext, call, &request) || !is_program(&request) || !kernel_refuses())
        return true;
    dr_syscall_set_result(drcontext, (reg_t)-ETXTBSY);
    return false;
}

void
text_busy_init(void)
{
    struct stat at;
    module_data_t *program = dr_get_main_module();
    if (program != NULL && program->full_path != NULL &&
        syscall(SYS_newfstatat, AT_FDCWD, program->full_path, &at, 0) == 0) {
        device = at.st_dev;
        number = at.st_ino;
    }
    if (program != NULL)
        dr_free_module_data(program);
    seccomp_before_allowed(before_syscall, NULL);
}
