/* Waits for more descriptors than there can be, and for some. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

static void
show(const char *what, int result)
{
    printf("%s: %d %s\n", what, result, result < 0 ? strerror(errno) : "");
}

int
main(void)
{
    struct pollfd one = { STDOUT_FILENO, POLLOUT, 0 };
    fd_set set;
    struct timeval now = { 0, 0 };
    volatile nfds_t all = (nfds_t)-1, many = (nfds_t)1 << 31;
    FD_ZERO(&set);
    FD_SET(STDOUT_FILENO, &set);
    show("poll of all", poll(&one, all, 0));
    show("poll of many", poll(&one, many, 0));
    show("select of fewer than none", select(-1, NULL, &set, NULL, &now));
    show("poll of one", poll(&one, 1, 0));
    show("select of two", select(2, NULL, &set, NULL, &now));
    return 0;
}
