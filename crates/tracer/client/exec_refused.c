#define _GNU_SOURCE
#include "exec_refused.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    HEAD = 256,           /* bytes that the kernel reads for the first line of a script */
    DEEPEST = 6,          /* a script's interpreter may be a script: the engine refuses more */
    LARGEST_TABLE = 65536 /* bytes of a table of segments */
};

bool
exec_is_allowed(int dir, const char *path, int flags)
{
    struct stat about;
    if (syscall(SYS_newfstatat, dir, path, &about, flags) != 0 || !S_ISREG(about.st_mode))
        return false;
    return syscall(SYS_faccessat2, dir, path, X_OK, flags | AT_EACCESS) == 0 || errno != EACCES;
}

/* The interpreter that a script's first line names; false: none that is there as a whole. */
static bool
names_interpreter(const char *head, size_t length, char *interpreter)
{
    size_t from = 2;
    while (from < length && (head[from] == ' ' || head[from] == '\t'))
        from++;
    size_t to = from;
    while (to < length && strchr(" \t\n", head[to]) == NULL) /* or the end of a string */
        to++;
    if (to == from || to == HEAD)
        return false;
    memcpy(interpreter, head + from, to - from);
    interpreter[to - from] = '\0';
    return true;
}

/* The kernel reads the whole of it before it goes on to anything else. */
static bool
loader_is_refused(int file, const Elf64_Phdr *segment)
{
    char loader[PATH_MAX];
    if (segment->p_filesz < 2 || segment->p_filesz > sizeof(loader))
        return true;
    long got = syscall(SYS_pread64, file, loader, segment->p_filesz, segment->p_offset);
    return got != (long)segment->p_filesz || loader[got - 1] != '\0' || !exec_is_allowed(AT_FDCWD, loader, 0);
}

static bool
segments_are_refused(int file, const Elf64_Ehdr *head)
{
    Elf64_Phdr segment;
    if (head->e_phentsize != sizeof(segment) || head->e_phnum == 0 ||
        head->e_phnum * sizeof(segment) > LARGEST_TABLE)
        return true;
    for (uint i = 0; i < head->e_phnum; i++) {
        uint64 at = head->e_phoff + i * sizeof(segment);
        if (syscall(SYS_pread64, file, &segment, sizeof(segment), at) != sizeof(segment))
            return true;
        if (segment.p_type == PT_INTERP)
            return loader_is_refused(file, &segment);
    }
    return false;
}

/* Refused, or neither that nor a script whose interpreter is to be looked at next. */
static bool
is_refused(int file, char *interpreter)
{
    char head[HEAD];
    Elf64_Ehdr elf;
    long got = syscall(SYS_pread64, file, head, sizeof(head), 0L);
    interpreter[0] = '\0';
    if (got > 2 && memcmp(head, "#!", 2) == 0) {
        if (!names_interpreter(head, (size_t)got, interpreter))
            interpreter[0] = '\0';
        return interpreter[0] != '\0' && !exec_is_allowed(AT_FDCWD, interpreter, 0);
    }
    if (got < (long)sizeof(elf) || memcmp(head, ELFMAG, SELFMAG) != 0)
        return false;
    memcpy(&elf, head, sizeof(elf));
    return elf.e_ident[EI_CLASS] == ELFCLASS64 && elf.e_machine == EM_X86_64 && segments_are_refused(file, &elf);
}

bool
exec_is_refused(const char *path)
{
    char interpreter[HEAD];
    bool refused = false;
    for (int i = 0; i < DEEPEST && !refused && path[0] != '\0'; i++) {
        int file = dr_open_aside(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (file < 0)
            return false;
        refused = is_refused(file, interpreter);
        path = interpreter;
        syscall(SYS_close, file);
    }
    return refused;
}
