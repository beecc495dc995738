/* Code that was executed and is then written by the kernel: through /proc/self/mem, as debuggers and some run-time compilers do, by
 * process_vm_writev, and by another mapping that takes its place. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, LENGTH = 6, ROUNDS = 10 };

static void
make(uint8_t *code, uint32_t value)
{
    code[0] = 0xb8; /* mov $VALUE, %eax; ret */
    memcpy(code + 1, &value, 4);
    code[5] = 0xc3;
}

static int
call(const uint8_t *code)
{
    return ((int (*)(void))(uintptr_t)code)();
}

static void *
map(int prot)
{
    return mmap(NULL, PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

enum { PWRITE, PWRITEV, WRITE, WRITEV, WAYS };

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
            else {
                lseek(file, (long)code, SEEK_SET);
                sum += (way == WRITE ? write(file, bytes, LENGTH) : writev(file, halves, 2)) == LENGTH;
            }
            sum += 100 * call(code);
        }
        printf("%d as %d: %d\n", way, prot, sum);
    }
    close(file);
}

int
main(void)
{
    int sum = 0;
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
    return 0;
}
