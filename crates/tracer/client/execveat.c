#define _GNU_SOURCE
#include "execveat.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drmgr.h"
#include "peek.h"

typedef struct {
    bool active;
    reg_t given[3];
    char path[MAXIMUM_PATH];
    char file[MAXIMUM_PATH];
} execveat_t;

static int tls_index;

bool
execveat_is_script(int dir, const char *given)
{
    char head[2];
    int file = dir;
    bool opened = given[0] != '\0';
    if (opened)
        file = dr_open_aside(dir, given, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool script = syscall(SYS_pread64, file, head, sizeof(head), 0L) == sizeof(head) &&
        memcmp(head, "#!", sizeof(head)) == 0;
    if (opened && file >= 0)
        syscall(SYS_close, file);
    return script;
}

static bool
find_path(int dir, const char *given, int flags, char *path)
{
    if (given[0] == '/' || (given[0] != '\0' && dir == AT_FDCWD)) {
        dr_snprintf(path, MAXIMUM_PATH - 1, "%s", given);
        return true;
    }
    if ((given[0] == '\0' && (flags & AT_EMPTY_PATH) == 0) || execveat_is_script(dir, given))
        return false;
    char link[64];
    dr_snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
    long got = syscall(SYS_readlink, link, path, MAXIMUM_PATH - 1);
    if (got <= 0 || (size_t)got + strlen(given) + 2 > MAXIMUM_PATH)
        return false;
    path[got] = '\0';
    if (given[0] != '\0')
        dr_snprintf(path + got, MAXIMUM_PATH - (size_t)got, "/%s", given);
    return true;
}

/* Of a path that cannot be read to its end, the part that can does not. */
static bool
leads_to_the_same(int dir, const char *given, int flags, const char *path)
{
    struct stat asked, found;
    return syscall(SYS_newfstatat, dir, given, &asked, flags) == 0 && !S_ISLNK(asked.st_mode) &&
        syscall(SYS_stat, path, &found) == 0 && asked.st_dev == found.st_dev &&
        asked.st_ino == found.st_ino;
}

const char *
execveat_keep(void *drcontext, const char *path)
{
    execveat_t *e = drmgr_get_tls_field(drcontext, tls_index);
    dr_snprintf(e->file, sizeof(e->file), "%s", path);
    e->file[sizeof(e->file) - 1] = '\0';
    return e->file;
}

void
execveat_goes_by(void *drcontext, const char *path)
{
    execveat_t *e = drmgr_get_tls_field(drcontext, tls_index);
    for (int i = 0; i < 3 && !e->active; i++)
        e->given[i] = dr_syscall_get_param(drcontext, i);
    dr_syscall_set_param(drcontext, 0, (reg_t)execveat_keep(drcontext, path));
    e->active = true;
}

bool
execveat_becomes_execve(void *drcontext)
{
    execveat_t *e = drmgr_get_tls_field(drcontext, tls_index);
    char given[MAXIMUM_PATH];
    int dir = (int)dr_syscall_get_param(drcontext, 0);
    int flags = (int)dr_syscall_get_param(drcontext, 4);
    const char *asked = (const char *)dr_syscall_get_param(drcontext, 1);
    peek_text(asked, given, sizeof(given));
    memset(e->path, 0, sizeof(e->path));
    if ((flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) != 0 ||
        !find_path(dir, given, flags, e->path) || !leads_to_the_same(dir, asked, flags, e->path))
        return false;
    for (int i = 0; i < 3; i++)
        e->given[i] = dr_syscall_get_param(drcontext, i);
    reg_t argv = e->given[2], envp = dr_syscall_get_param(drcontext, 3);
    dr_syscall_set_sysnum(drcontext, SYS_execve);
    dr_syscall_set_param(drcontext, 0, (reg_t)e->path);
    dr_syscall_set_param(drcontext, 1, argv);
    dr_syscall_set_param(drcontext, 2, envp);
    e->active = true;
    return true;
}

void
execveat_failed(void *drcontext)
{
    execveat_t *e = drmgr_get_tls_field(drcontext, tls_index);
    dr_mcontext_t mc = { .size = sizeof(mc), .flags = DR_MC_INTEGER };
    if (!e->active || !dr_get_mcontext(drcontext, &mc))
        return;
    e->active = false;
    mc.xdi = e->given[0];
    mc.xsi = e->given[1];
    mc.xdx = e->given[2];
    dr_set_mcontext(drcontext, &mc);
}

static void
on_thread_init(void *drcontext)
{
    execveat_t *e = dr_thread_alloc(drcontext, sizeof(*e));
    e->active = false;
    drmgr_set_tls_field(drcontext, tls_index, e);
}

static void
on_thread_exit(void *drcontext)
{
    dr_thread_free(drcontext, drmgr_get_tls_field(drcontext, tls_index), sizeof(execveat_t));
}

void
execveat_init(void)
{
    tls_index = drmgr_register_tls_field();
    drmgr_register_thread_init_event(on_thread_init);
    drmgr_register_thread_exit_event(on_thread_exit);
}
