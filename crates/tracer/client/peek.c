#include "peek.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

size_t
peek(const void *at, void *to, size_t size)
{
    struct iovec from = { (void *)at, size }, into = { to, size };
    long got = syscall(SYS_process_vm_readv, syscall(SYS_getpid), &into, 1L, &from, 1L, 0L);
    return got < 0 ? 0 : (size_t)got;
}

void
peek_text(const void *at, char *to, size_t size)
{
    size_t got = peek(at, to, size);
    if (memchr(to, '\0', got) == NULL)
        to[0] = '\0';
}
