/* Code that was executed and is then written by the kernel: through /proc/self/mem, as debuggers and some run-time compilers do, by
 * process_vm_writev, and by another mapping that takes its place; and what other threads execute then. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "made_code.h"

enum { LENGTH = 6, ROUNDS = 10, SEEN = 60 };

enum { PWRITE, PWRITEV, PWRITEV2, WRITE, WRITEV, AT_POSITION, DUPLICATE, WAYS };

static void
memory_file(int prot)
{
    int file = open("/proc/self/mem", O_RDWR);
    for (int way = 0; way < WAYS; way++) {
        uint8_t *code = map(prot), bytes[LENGTH];
        int sum = 0;
        for (uint32_t i = 0; i < ROUNDS; i++) {
            struct iovec halves[] = { { bytes, 3 }, { bytes + 3, LENGTH - 3 } };
            make(bytes, i);
            if (way == PWRITE)
                sum += pwrite(file, bytes, LENGTH, (long)code) == LENGTH;
            else if (way == PWRITEV)
                sum += pwritev(file, halves, 2, (long)code) == LENGTH;
            else if (way == PWRITEV2)
                sum += pwritev2(file, halves, 2, (long)code, 0) == LENGTH;
            else {
                int other = dup(file);
                lseek(file, (long)code, SEEK_SET);
                sum += (way == WRITE       ? write(file, bytes, LENGTH)
                        : way == WRITEV    ? writev(file, halves, 2)
                        : way == DUPLICATE ? write(other, bytes, LENGTH)
                                           : pwritev2(file, halves, 2, -1, 0)) == LENGTH;
                close(other);
            }
            sum += 100 * call(code);
        }
        printf("%d as %d: %d\n", way, prot, sum);
    }
    close(file);
}

/* On from a page before it. */
static void
from_before(void)
{
    uint8_t *pages = mmap(NULL, 2L * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), bytes[LENGTH];
    static uint8_t nothing[PAGE];
    int file = open("/proc/self/mem", O_RDWR), sum = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        make(bytes, i);
        lseek(file, (long)pages, SEEK_SET);
        sum += write(file, nothing, PAGE) == PAGE;
        sum += write(file, bytes, LENGTH) == LENGTH;
        sum += 100 * call(pages + PAGE);
    }
    printf("from before: %d\n", sum);
    close(file);
}

static void
seen_by_others(void)
{
    pthread_t thread;
    uint8_t bytes[LENGTH];
    int file = open("/proc/self/mem", O_RDWR), lost = 0;
    shared = map(PROT_READ | PROT_EXEC);
    make(bytes, SEEN);
    lost += pwrite(file, bytes, LENGTH, (long)shared) != LENGTH;
    pthread_create(&thread, NULL, calls, NULL);
    for (int i = 0; i < SEEN; i++) {
        make(bytes, (uint32_t)i);
        lost += pwrite(file, bytes, LENGTH, (long)shared) != LENGTH;
        lost += !comes_to_be_seen(i);
    }
    stop = 1;
    pthread_join(thread, NULL);
    printf("lost: %d\n", lost);
    close(file);
}

/* By the number of a thread that is not the first. */
static void *
by_thread(void *unused)
{
    uint8_t *code = map(PROT_READ | PROT_WRITE | PROT_EXEC), bytes[LENGTH];
    int sum = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct iovec from = { bytes, LENGTH }, to = { code, LENGTH };
        make(bytes, i);
        sum += process_vm_writev((pid_t)syscall(SYS_gettid), &from, 1, &to, 1, 0) == LENGTH;
        sum += 100 * call(code);
    }
    printf("from a thread: %d\n", sum);
    return unused;
}

int
main(void)
{
    int sum = 0;
    pthread_t thread;
    from_before(); /* while no memory file has been positioned in code */
    memory_file(PROT_READ | PROT_EXEC);
    memory_file(PROT_READ | PROT_WRITE | PROT_EXEC);
    uint8_t *code = map(PROT_READ | PROT_WRITE | PROT_EXEC), bytes[LENGTH];
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct iovec from = { bytes, LENGTH }, to = { code, LENGTH };
        make(bytes, i);
        sum += process_vm_writev(getpid(), &from, 1, &to, 1, 0) == LENGTH;
        sum += 100 * call(code);
    }
    printf("from a process: %d\n", sum);
    for (uint32_t i = sum = 0; i < ROUNDS; i++) {
        uint8_t *other = map(PROT_READ | PROT_WRITE | PROT_EXEC);
        make(other, i);
        mremap(other, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, code);
        sum += call(code);
    }
    printf("mapped over: %d\n", sum);
    pthread_create(&thread, NULL, by_thread, NULL);
    pthread_join(thread, NULL);
    seen_by_others();
    return 0;
}
