/* Pages that the program provides itself: it is asked for those that it touches, as it touches them, and for no others. The thread that
 * would provide them gives others back, moves, grows and opens memory that nobody has touched, and keeps what it asks the kernel
 * right before some. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 16 };

static int faults;
static char *region;
static char page[PAGE] __attribute__((aligned(PAGE)));

static void
provide(void)
{
    struct uffd_msg message;
    if (read(faults, &message, sizeof(message)) != sizeof(message))
        return;
    char *at = (char *)(message.arg.pagefault.address & -(unsigned long long)PAGE);
    printf("asked for page %td by a %s\n", (at - region) / PAGE,
           (message.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WRITE) != 0 ? "store" : "load");
    memset(page, 'a' + (int)((at - region) / PAGE), PAGE);
    struct uffdio_copy copy = { .dst = (unsigned long)at, .src = (unsigned long)page, .len = PAGE };
    printf("provided: %d\n", ioctl(faults, UFFDIO_COPY, &copy));
}

static void *
touch(void *arg)
{
    volatile char *at = arg;
    for (int i = 0; i < 3; i++)
        at[2 * i * PAGE] += 1;
    for (int i = 0; i < 3; i++)
        at[(2 * i + 1) * PAGE] = (char)i;
    return NULL;
}

static void
touched(char *at, int expected)
{
    pthread_t toucher;
    struct pollfd ready = { .fd = faults, .events = POLLIN };
    pthread_create(&toucher, NULL, touch, at);
    for (int i = 0; i < expected && poll(&ready, 1, 5000) == 1; i++)
        provide();
    pthread_join(toucher, NULL);
    printf("more: %d, bytes %d %d\n", poll(&ready, 1, 50), at[0], at[PAGE]);
}

static int
watch(char *at, size_t bytes)
{
    struct uffdio_register range = { .range = { (unsigned long)at, bytes }, .mode = UFFDIO_REGISTER_MODE_MISSING };
    return ioctl(faults, UFFDIO_REGISTER, &range);
}

int
main(void)
{
    struct uffdio_api api = { .api = UFFD_API };
    /* Who waits for what nobody provides. */
    alarm(60);
    setvbuf(stdout, NULL, _IOLBF, 0);
    faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
    if (faults < 0 || ioctl(faults, UFFDIO_API, &api) != 0) {
        puts("the kernel has none for this user");
        return 0;
    }
    region = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(region, 1, 8 * PAGE);
    printf("watched: %d\n", watch(region, PAGES * PAGE));
    touched(region, 0);
    madvise(region, 8 * PAGE, MADV_DONTNEED);
    touched(region, 6);
    madvise(region, PAGES * PAGE, MADV_DONTNEED);
    mprotect(region, PAGES * PAGE, PROT_READ);
    mprotect(region, PAGES * PAGE, PROT_READ | PROT_WRITE);
    /* What is behind an argument that nobody knows may be missing. */
    madvise(region, PAGES * PAGE, MADV_DONTNEED);
    struct uffdio_zeropage zeros = { .range = { (unsigned long)region, PAGE } };
    ioctl(faults, UFFDIO_ZEROPAGE, &zeros);
    int *number = (int *)(region + PAGE) - 1, pipes[2] = { -1, -1 };
    printf("pipe: %d, ", pipe(pipes));
    printf("%d bytes are there: %d\n", *number, ioctl(pipes[0], FIONREAD, number));
    char *larger = mremap(region, PAGES * PAGE, 2 * PAGES * PAGE, MREMAP_MAYMOVE);
    printf("grew: %d, watched: %d\n", larger != MAP_FAILED, watch(larger, 2 * PAGES * PAGE));
    region = larger;
    touched(larger + 2 * PAGE, 6);
    return 0;
}
