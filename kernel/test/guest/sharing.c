/* Several processes: forked ones, one that is sent the file, several that ask at once. */
#include "guest.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 16 * PAGE };

static void forked(uint32_t type)
{
    int fd, go[2];
    unsigned char *bytes = memory(&fd, type, BYTES);
    char types[16], byte;
    int status;

    close(fd);
    bytes[PAGE] = 7;
    need(pipe(go) == 0, "pipe");
    pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        if (bytes[PAGE] != 7)
            _exit(1);
        bytes[0] = 42;
        probe(bytes + PAGE, types);
        if (read(go[0], &byte, 1) != 0)
            _exit(2);
        /* The parent has unmapped it. */
        if (bytes[0] != 42 || bytes[PAGE] != 7)
            _exit(3);
        say("%s forked: %s, %lu used when unmapped by the parent", type_names[type], types, (unsigned long)info().used);
        _exit(0);
    }
    close(go[0]);
    while (*(volatile unsigned char *)bytes != 42)
        usleep(1000);
    need(munmap(bytes, BYTES) == 0, "munmap");
    close(go[1]);
    need(waitpid(child, &status, 0) == child, "waitpid");
    say("%s forked: child %d, %lu used at last", type_names[type], status, (unsigned long)used_at_last(0));
}

static void send_file(int to, int fd)
{
    char space[CMSG_SPACE(sizeof fd)] = {0}, byte = 0;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    need(sendmsg(to, &message, 0) == 1, "sendmsg");
}

static int receive_file(int from)
{
    char space[CMSG_SPACE(sizeof(int))], byte;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    int fd;

    need(recvmsg(from, &message, 0) == 1, "recvmsg");
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

/* The second process exists before the memory does and is sent the file. */
static void sent(uint32_t type)
{
    int pair[2], fd, status;

    need(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
    pid_t child = fork();
    if (child == 0) {
        char types[16];
        int received = receive_file(pair[1]);
        unsigned char *bytes = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, received, 3 * PAGE);

        need(bytes != MAP_FAILED, "mmap of a file that was sent");
        close(received);
        probe(bytes, types);
        say("%s sent: %s, byte %d", type_names[type], types, bytes[5]);
        bytes[6] = 44;
        _exit(0);
    }
    unsigned char *bytes = memory(&fd, type, BYTES);
    bytes[3 * PAGE + 5] = 43;
    __sync_synchronize();
    send_file(pair[0], fd);
    close(fd);
    need(waitpid(child, &status, 0) == child, "waitpid");
    say("%s sent: child %d, answered byte %d", type_names[type], status, bytes[3 * PAGE + 6]);
    munmap(bytes, BYTES);
    close(pair[0]);
    close(pair[1]);
    say("%s sent: %lu used at last", type_names[type], (unsigned long)used_at_last(0));
}

/* Two processes ask one file for its memory at once: one gets it. */
static void racing(void)
{
    int both = 0, neither = 0;

    for (int round = 0; round < 60; round++) {
        int fd = device(), status;
        pid_t child = fork();

        if (child == 0)
            _exit(allocate(fd, PRESTORE_DEV_UC, BYTES) == 0);
        int ours = allocate(fd, PRESTORE_DEV_UC, BYTES) == 0;
        need(waitpid(child, &status, 0) == child, "waitpid");
        both += ours && WEXITSTATUS(status);
        neither += !ours && !WEXITSTATUS(status);
        close(fd);
    }
    say("racing: both %d, neither %d, %lu used at last", both, neither, (unsigned long)used_at_last(0));
}

static void killed(void)
{
    int ready[2], status;
    char byte;

    need(pipe(ready) == 0, "pipe");
    pid_t child = fork();
    if (child == 0) {
        int fd;
        unsigned char *bytes = memory(&fd, PRESTORE_DEV_UC, BYTES);

        bytes[0] = 1;
        if (write(ready[1], "", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    need(read(ready[0], &byte, 1) == 1, "read");
    say("killed: %lu used before", (unsigned long)info().used);
    kill(child, SIGKILL);
    need(waitpid(child, &status, 0) == child, "waitpid");
    say("killed: %lu used at last", (unsigned long)used_at_last(0));
    close(ready[0]);
    close(ready[1]);
}

void test_sharing(void)
{
    const uint32_t types = info().types;

    for (uint32_t type = PRESTORE_DEV_WB; type <= PRESTORE_DEV_UC; type++) {
        if (types & 1u << type) {
            forked(type);
            sent(type);
        }
    }
    racing();
    killed();
}
