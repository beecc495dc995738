#include "proc_copies.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dr_api.h"
#include "locks.h"

#define COPIES 16

static struct {
    long number;
    uint64 inode; /* of the copy: the number may be another file's by now */
    long process;
    file_of_t of;
} copies[COPIES];
static volatile int count; /* so many there have been, up to twice as many as are kept */
static void *lock;

void
proc_copies_init(void)
{
    lock = dr_mutex_create();
}

void
proc_copies_exit(void)
{
    dr_mutex_destroy(lock);
}

/* They stay the parent's. */
void
proc_copies_forked(void)
{
    lock = lock_in_child(lock);
    count = 0;
}

static uint64
inode_of(long file)
{
    struct stat found;
    return syscall(SYS_fstat, file, &found) == 0 ? (uint64)found.st_ino : 0;
}

void
proc_copies_add(long number, const file_of_t *of)
{
    uint64 inode = inode_of(number);
    dr_mutex_lock(lock);
    int at = count % COPIES;
    copies[at].number = number;
    copies[at].inode = inode;
    copies[at].process = syscall(SYS_getpid);
    copies[at].of = *of;
    count = count == 2 * COPIES - 1 ? COPIES : count + 1;
    dr_mutex_unlock(lock);
}

bool
proc_copies_find(long number, file_of_t *of)
{
    bool found = false;
    if (count == 0) /* as in nearly all programs */
        return false;
    dr_mutex_lock(lock);
    for (int i = 0; i < count && i < COPIES && !found; i++) {
        found = copies[i].number == number && copies[i].inode != 0 &&
            copies[i].process == syscall(SYS_getpid) && copies[i].inode == inode_of(number);
        if (found)
            *of = copies[i].of;
    }
    dr_mutex_unlock(lock);
    return found;
}
