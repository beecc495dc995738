/* Two processes with a lock each, or one that they share, by the first argument: `private`, or memory shared as `anonymous`, `segment`
 * or `file` before the second process is made, a file mapped by each for itself, elsewhere (`both`), that
 * file moved there by the second one (`moved`), or memory shared with nobody at the same address (`apart`). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 20
#define PLACE ((char *)0x200000000000)

struct shared {
    atomic_int lock;
    long sum;
};

static struct shared *
map(int flags, int fd, size_t from)
{
    void *memory = mmap(PLACE + from, 4096, PROT_READ | PROT_WRITE, MAP_FIXED_NOREPLACE | flags, fd, 0);
    if (memory == MAP_FAILED)
        exit(2);
    return memory;
}

static struct shared *
segment(void)
{
    int id = shmget(IPC_PRIVATE, 4096, 0600);
    void *memory = shmat(id, NULL, 0);
    if (id == -1 || memory == (void *)-1)
        exit(2);
    shmctl(id, IPC_RMID, NULL);
    return memory;
}

static void
sections(struct shared *shared)
{
    for (int i = 0; i < ROUNDS; i++) {
        while (atomic_exchange_explicit(&shared->lock, 1, memory_order_acquire))
            sched_yield();
        shared->sum++;
        atomic_store_explicit(&shared->lock, 0, memory_order_release);
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    }
}

int
main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int file = memfd_create("memory", 0);
    struct shared *shared = NULL;
    if (file == -1 || ftruncate(file, 4096) != 0)
        return 2;
    if (strcmp(how, "private") == 0)
        shared = map(MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    else if (strcmp(how, "anonymous") == 0)
        shared = map(MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    else if (strcmp(how, "segment") == 0)
        shared = segment();
    else if (strcmp(how, "file") == 0 || strcmp(how, "moved") == 0)
        shared = map(MAP_SHARED, file, 0);
    else if (strcmp(how, "both") != 0 && strcmp(how, "apart") != 0)
        return 2;
    pid_t child = fork();
    if (strcmp(how, "moved") == 0 && child == 0)
        shared = mremap(shared, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, PLACE + (1 << 20));
    else if (strcmp(how, "apart") == 0)
        shared = map(MAP_SHARED, open("/dev/zero", O_RDWR), 0);
    else if (shared == NULL)
        shared = map(MAP_SHARED, file, child == 0 ? 1 << 20 : 0);
    sections(shared);
    if (child == 0)
        return 0;
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
