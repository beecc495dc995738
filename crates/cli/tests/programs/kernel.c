// Memory that the kernel writes, maps, moves and takes away.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char buffer[1 << 16];
static volatile int handled;

static void on_signal(int signal, siginfo_t *info, void *context) {
    handled += signal + (info != NULL) + (context != NULL);
}

static void files(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 9000; i++)
        buffer[i] = (char)(i * 5 + 1);
    (void)!write(fd, buffer, 9000);
    memset(buffer, 0, sizeof(buffer));
    (void)!pread(fd, buffer + 1, 5000, 7);
    lseek(fd, 100, SEEK_SET);
    (void)!read(fd, buffer + 6000, 3000);
    struct iovec parts[3] = { { buffer + 20000, 10 }, { buffer + 20100, 4000 }, { buffer + 30000, 9 } };
    lseek(fd, 0, SEEK_SET);
    (void)!readv(fd, parts, 3);
    struct stat st;
    struct statfs fs;
    fstat(fd, &st);
    stat(path, (struct stat *)(buffer + 40000));
    statfs(path, &fs);
    syscall(SYS_statx, AT_FDCWD, path, 0, 0xfff, buffer + 40400);
    (void)!getcwd(buffer + 41000, 500);
    (void)!readlink("/proc/self/exe", buffer + 41600, 300);
    DIR *dir = opendir("/proc/self");
    while (readdir(dir) != NULL)
        ;
    closedir(dir);
    // The file's pages, read, written and private.
    char *private = mmap(NULL, 9000, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    char *later = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 4096);
    private[10] = 'p';
    mprotect(later, 4096, PROT_READ | PROT_WRITE);
    later[17] = 'l';
    int holes = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    (void)!pwrite(holes, "not at the start", 16, 20000);
    (void)!ftruncate(holes, 100000);
    char *shared = mmap(NULL, 100000, PROT_READ | PROT_WRITE, MAP_SHARED, holes, 0);
    shared[5000] = 's';
    munmap(shared, 4096);
    close(holes);
    close(fd);
    unlink(path);
}

static void mappings(void) {
    char *many = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 1 << 20; i += 999)
        many[i] = (char)i;
    madvise(many + 8192, 65536, MADV_DONTNEED);
    char *moved = mremap(many, 1 << 20, 2 << 20, MREMAP_MAYMOVE);
    moved[(2 << 20) - 1] = 1;
    moved = mremap(moved, 2 << 20, 1 << 19, 0);
    char *again = mmap(moved + 4096, 8192, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    again[1] = 2;
    char *elsewhere = mmap(NULL, 1 << 21, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mremap(moved, 1 << 19, 1 << 19, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere);
    elsewhere[3] = 'e';
    char *heap = sbrk(100000);
    heap[99999] = 'h';
    int id = shmget(IPC_PRIVATE, 10000, 0600 | IPC_CREAT);
    if (id >= 0) {
        char *attached = shmat(id, NULL, 0);
        attached[9999] = 'a';
        shmctl(id, IPC_RMID, NULL);
    }
}

static void sockets(void) {
    int pair[2], fds[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    (void)!pipe(fds);
    (void)!write(fds[1], "through a pipe", 14);
    int waiting;
    ioctl(fds[0], FIONREAD, &waiting);
    (void)!read(fds[0], buffer + 50000, 100);
    (void)!write(pair[0], "through a socket", 16);
    recv(pair[1], buffer + 50200, 7, 0);
    struct iovec part = { buffer + 50300, 100 };
    struct sockaddr_storage name;
    struct msghdr message = { .msg_name = &name, .msg_namelen = sizeof(name), .msg_iov = &part, .msg_iovlen = 1 };
    recvmsg(pair[1], &message, 0);
    struct pollfd polled[2] = { { pair[0], POLLOUT, 0 }, { fds[1], POLLOUT, 0 } };
    poll(polled, 2, 0);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pair[0], &set);
    select(pair[0] + 1, NULL, &set, NULL, &(struct timeval){ 0, 0 });
    int epoll = epoll_create1(0);
    struct epoll_event event = { .events = EPOLLOUT, .data.u64 = 0x1234567890 };
    epoll_ctl(epoll, EPOLL_CTL_ADD, pair[0], &event);
    struct epoll_event events[4];
    epoll_wait(epoll, events, 4, 0);
    int value;
    socklen_t length = sizeof(value);
    getsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &value, &length);
}

static void *thread(void *argument) {
    (void)!getrandom(argument, 300, 0);
    return NULL;
}

static void processes(void) {
    struct timespec now;
    struct rusage usage;
    struct utsname uts;
    struct tms times_;
    struct rlimit limit;
    sigset_t set;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    getrusage(RUSAGE_SELF, &usage);
    uname(&uts);
    times(&times_);
    getrlimit(RLIMIT_NOFILE, &limit);
    syscall(SYS_sched_getaffinity, 0, 128, buffer + 52000);
    (void)!getrandom(buffer + 53000, 777, 0);
    nanosleep(&(struct timespec){ 0, 1000 }, NULL);
    sigprocmask(SIG_BLOCK, NULL, &set);
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, old;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR1, &action, &old);
    raise(SIGUSR1);
    pthread_t id;
    for (int i = 0; i < 3; i++) {
        pthread_create(&id, NULL, thread, buffer + 54000 + 300 * i);
        pthread_join(id, NULL);
    }
    pid_t child = fork();
    if (child == 0) {
        buffer[60000] = 'c';
        _exit(3);
    }
    int status;
    waitpid(child, &status, 0);
}

int main(int argc, char **argv) {
    for (int i = 0; argc == 2 && i < 2; i++) {
        files(argv[1]);
        mappings();
        sockets();
        processes();
    }
    return printf("%d\n", handled) < 0;
}
