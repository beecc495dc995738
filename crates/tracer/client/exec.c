#define _GNU_SOURCE
#include "exec.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/xattr.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "session.h"
#include "dr_api.h"
#include "drmgr.h"
#include "environment.h"
#include "exec_file.h"
#include "exec_refused.h"
#include "execveat.h"
#include "peek.h"
#include "process_status.h"
#include "seccomp.h"
#include "signals.h"
#include "wire.h"

/* The engine follows a program into what it executes by executing itself instead. Where the kernel
 * would treat the two differently, or the engine could not live, the program's own call goes
 * to the kernel and the user is told. */

#define OF_FILES_CAPABILITIES XATTR_SECURITY_PREFIX XATTR_CAPS_SUFFIX

/* Who traced this process when it began: where all is run under strace, say, it is followed. */
static uint64 outer_tracer;
/* One of the engine's files. */
static char engine_file[MAXIMUM_PATH];

static uint64
tracer(void)
{
    return process_status("TracerPid:", 10);
}

/* Would the kernel give who executes the open file other rights than it has? */
static bool
gives_rights(int file, const struct stat *about)
{
    struct statfs system;
    if (syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return false;
    if (syscall(SYS_fstatfs, file, &system) == 0 && (system.f_flags & ST_NOSUID) != 0)
        return false;
    uid_t user = (uid_t)syscall(SYS_geteuid);
    if ((about->st_mode & S_ISUID) != 0 && about->st_uid != user)
        return true;
    if ((about->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
        about->st_gid != (gid_t)syscall(SYS_getegid))
        return true;
    return user != 0 && syscall(SYS_fgetxattr, file, OF_FILES_CAPABILITIES, NULL, 0) > 0;
}

static bool
is_foreign(int file)
{
    Elf64_Ehdr head;
    if (syscall(SYS_pread64, file, &head, sizeof(head), 0L) != sizeof(head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    return head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != EM_X86_64;
}

/* Valgrind's launcher tells its tools by a variable that they are started by it; another engine of
 * our kind is told by variables too, and ours are not among the program's. */
static bool
brings_engine(const char *const *envp)
{
    static const char *const marks[] = { "VALGRIND_LAUNCHER=", "DYNAMORIO_OPTIONS=" };
    const char *variable;
    for (; peek(envp, &variable, sizeof(variable)) == sizeof(variable) && variable != NULL; envp++) {
        for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
            char text[32];
            size_t length = strlen(marks[i]);
            if (peek(variable, text, length) == length && memcmp(text, marks[i], length) == 0)
                return true;
        }
    }
    return false;
}

/* Does `word` occur in the open file? */
static bool
mentions(int file, const char *word)
{
    char bytes[4096];
    size_t length = strlen(word), kept = 0;
    ssize_t n;
    for (off_t at = 0; (n = syscall(SYS_pread64, file, bytes + kept, sizeof(bytes) - kept, at)) > 0; at += n) {
        size_t end = kept + (size_t)n;
        if (memmem(bytes, end, word, length) != NULL)
            return true;
        kept = end < length ? end : length - 1;
        memmove(bytes, bytes + end - kept, kept);
    }
    return false;
}

/* A debugger, or what makes calls on behalf of processes, examines what it finds in those that it
 * controls: it must not find us there, and starts many without executing anything. Others may have such a name: who controls processes
 * names the call, or the library that makes it. */
static bool
is_debugger(const char *path, int file)
{
    static const struct {
        const char *name, *by;
    } known[] = { { "gdb", "ptrace" },         { "gdbserver", "ptrace" }, { "lldb", "liblldb" },
                  { "lldb-server", "ptrace" }, { "proot", "ptrace" },     { "rr", "ptrace" } };
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(slash == NULL ? path : slash + 1, known[i].name) == 0)
            return mentions(file, known[i].by);
    }
    return false;
}

/* Has it let its parent control it? What it then executes runs natively, but it has not executed anything. */
static bool is_held;

static bool
readable(const char *path)
{
    int file = dr_open_aside(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0)
        syscall(SYS_close, file);
    return file >= 0;
}

/* Why `path`, which is executable, is to be executed without us; 0: it is not. */
static uint
why_native(const char *path, const char *const *envp)
{
    struct stat about;
    if (tracer() != outer_tracer)
        return NOTE_TRACED;
    if (brings_engine(envp))
        return NOTE_OWN_ENGINE;
    int file = dr_open_aside(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return NOTE_UNREADABLE;
    uint why = 0;
    if (is_debugger(path, file))
        why = NOTE_DEBUGGER;
    else if (syscall(SYS_fstat, file, &about) == 0 && gives_rights(file, &about))
        why = NOTE_PRIVILEGED;
    else if (is_foreign(file))
        why = NOTE_FOREIGN;
    else if (!readable(engine_file) || (!session_stopped() && !session_in_reach()))
        why = NOTE_OUT_OF_REACH;
    syscall(SYS_close, file);
    return why;
}

/* What somebody has open for writing the kernel does not execute; it is not asked, as the engine is executed
 * instead. It looks at the file before the arguments, which it cannot read here (older kernels do so the other
 * way round, and do not tell). */
static bool
is_being_written(const char *path)
{
    char **nowhere = (char **)~4095ul;
    return syscall(SYS_execve, path, nowhere, nowhere) == -1 && errno == ETXTBSY;
}

/* Does the file begin as what the kernel executes? Else the call fails when its arguments have been read: who has
 * a shell execute it then must not go on under filters. */
static bool
is_program(const char *path)
{
    char head[SELFMAG];
    int file = dr_open_aside(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return true; /* not for us to read */
    bool whole = syscall(SYS_pread64, file, head, sizeof(head), 0L) == sizeof(head);
    syscall(SYS_close, file);
    return whole && (memcmp(head, ELFMAG, SELFMAG) == 0 || memcmp(head, "#!", 2) == 0);
}

/* A file without a path, which the engine cannot follow. */
static void
leave_execveat(void *drcontext)
{
    char given[MAXIMUM_PATH];
    int dir = (int)dr_syscall_get_param(drcontext, 0);
    int flags = (int)dr_syscall_get_param(drcontext, 4);
    peek_text((const char *)dr_syscall_get_param(drcontext, 1), given, sizeof(given));
    if (!exec_is_allowed(dir, given, flags))
        return;
    session_note(NOTE_WITHOUT_PATH, given[0] == '\0' ? "an open file" : given);
    seccomp_hand_over(drcontext);
}

static bool
before_syscall(void *drcontext, int number)
{
    char path[MAXIMUM_PATH];
    if (number == SYS_ptrace && dr_syscall_get_param(drcontext, 0) == PTRACE_TRACEME)
        is_held = true;
    if (number == SYS_execveat) {
        if (execveat_becomes_execve(drcontext))
            number = SYS_execve;
        else
            leave_execveat(drcontext);
    }
    if (number != SYS_execve)
        return true;
    const char *given = (const char *)dr_syscall_get_param(drcontext, 0);
    peek_text(given, path, sizeof(path));
    if (path[0] == '\0')
        return true;
    if (!exec_is_allowed(AT_FDCWD, path, 0)) {
        engine_exec_natively(drcontext);
        return true;
    }
    if (is_being_written(path)) {
        execveat_failed(drcontext);
        dr_syscall_set_result(drcontext, (reg_t)-ETXTBSY);
        return false;
    }
    exec_file_t file = exec_file_find(path);
    if (file.place != NO_PATH && exec_is_refused(file.path)) {
        if (file.engine)
            execveat_goes_by(drcontext, file.path);
        engine_exec_natively(drcontext);
        return true;
    }
    uint why = file.place == NO_PATH
        ? NOTE_WITHOUT_PATH
        : why_native(file.path, (const char *const *)dr_syscall_get_param(drcontext, 2));
    if (why == 0 && seccomp_active() && is_program(file.path))
        why = NOTE_SECCOMP;
    if (why == 0 && !is_program(file.path)) {
        /* It fails, or has an interpreter of which the kernel was told: not with our variables. */
        engine_exec_natively(drcontext);
        return true;
    }
    if (why == 0) {
        if (file.place == ELSEWHERE)
            engine_exec_file(drcontext, execveat_keep(drcontext, file.path));
        return true;
    }
    session_note(why, path);
    if (file.engine)
        execveat_goes_by(drcontext, file.path);
    engine_exec_natively(drcontext);
    seccomp_hand_over(drcontext);
    return true;
}

static void
after_syscall(void *drcontext, int number)
{
    if (number == SYS_execveat || number == SYS_execve)
        execveat_failed(drcontext);
}

void
exec_forked(void)
{
    outer_tracer = tracer();
    is_held = false;
}

void
exec_exit(void)
{
    if (is_held && tracer() != outer_tracer)
        session_note(NOTE_HELD, "");
}

void
exec_self(client_id_t id)
{
    dr_snprintf(engine_file, sizeof(engine_file) - 1, "%s", dr_get_client_path(id));
    outer_tracer = tracer();
    module_data_t *program = dr_get_main_module();
    char **argv = environment_argv();
    if (program != NULL && argv != NULL) {
        char **envp = argv;
        while (*envp++ != NULL)
            ;
        bool possible = exec_is_allowed(AT_FDCWD, program->full_path, 0);
        uint why = possible ? why_native(program->full_path, (const char *const *)envp) : 0;
        if (why != 0) {
            session_note(why, program->full_path);
            syscall(SYS_execve, program->full_path, argv, envp);
        }
    }
    dr_free_module_data(program);
}

void
exec_init(void)
{
    drmgr_priority_t last = { sizeof(last), "prestore-exec", NULL, NULL, 100 };
    execveat_init();
    seccomp_before_allowed(before_syscall, &last);
    drmgr_register_post_syscall_event(after_syscall);
}
