#include "text.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void
text_add(text_t *t, const void *bytes, size_t length)
{
    if (t->length + length > t->room) {
        size_t room = 2 * (t->length + length) + 4096;
        char *at = dr_global_alloc(room);
        if (t->at != NULL)
            memcpy(at, t->at, t->length);
        text_free(t);
        t->at = at;
        t->room = room;
    }
    memcpy(t->at + t->length, bytes, length);
    t->length += length;
}

void
text_free(text_t *t)
{
    if (t->at != NULL)
        dr_global_free(t->at, t->room);
    t->at = NULL;
    t->room = 0;
}

text_t
text_of_file(const char *path)
{
    text_t text = { 0 };
    char part[4096];
    long got;
    int file = dr_open_aside(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && (got = syscall(SYS_read, file, part, sizeof(part))) > 0)
        text_add(&text, part, (size_t)got);
    if (file >= 0)
        syscall(SYS_close, file);
    return text;
}
