/* Asks in many ways which descriptors are open. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

static int
ask(int way, int fd)
{
    struct stat status;
    struct statfs system;
    struct iovec none = { 0 };
    struct epoll_event event = { .events = EPOLLIN };
    static int epoll;
    int value, bytes;
    socklen_t size = sizeof(value);
    switch (way) {
    case 0: return fstat(fd, &status);
    case 1: return fcntl(fd, F_GETFD);
    case 2: return fcntl(fd, F_GETFL);
    case 3: return (int)lseek(fd, 0, SEEK_CUR);
    case 4: return (int)read(fd, &value, 0);
    case 5: return (int)write(fd, &value, 0);
    case 6: return (int)readv(fd, &none, 1);
    case 7: return ioctl(fd, FIONREAD, &bytes);
    case 8: return fstatfs(fd, &system);
    case 9: return fchdir(fd);
    case 10: return getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &size);
    case 11: return flock(fd, LOCK_SH | LOCK_NB);
    case 12: return fsync(fd);
    case 13: return fchmod(fd, 0600);
    case 14: return faccessat(fd, "any", F_OK, 0);
    case 15: return openat(fd, "any", O_RDONLY);
    case 16: return mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0;
    case 17: return (int)sendfile(1, fd, NULL, 0);
    case 18: return (int)copy_file_range(fd, NULL, 1, NULL, 0, 0);
    case 19:
        epoll = epoll == 0 ? epoll_create1(0) : epoll;
        return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    case 20: return fstatat(fd, "", &status, AT_EMPTY_PATH);
    case 21: return dup(fd) < 0 ? -1 : 0;
    case 22: return ftruncate(fd, 1 << 20);
    case 23: return (errno = posix_fadvise(fd, 0, 0, POSIX_FADV_NORMAL)) == 0 ? 0 : -1;
    default: exit(0);
    }
}

int
main(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    int end = limit.rlim_max < 30000 ? (int)limit.rlim_max : 30000;
    for (int way = 0;; way++) {
        int open = 0, last = -1;
        /* Room for some that these calls open themselves. */
        for (int fd = 300; fd < end + 20; fd++) {
            errno = 0;
            if (ask(way, fd) >= 0 || errno != EBADF) {
                open++;
                last = fd;
            }
        }
        printf("%d: %d, %d\n", way, open, last);
        fflush(stdout);
    }
}
