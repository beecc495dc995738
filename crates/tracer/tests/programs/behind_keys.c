// Generated code that has a protection key, which its thread opens to write it; faults in it, and of stores to it.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef int function(int);

static sigjmp_buf back;
static volatile int code_of_fault;

static void handler(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    code_of_fault = info->si_code;
    siglongjmp(back, 1);
}

static void write_code(int key, unsigned char *to, const unsigned char *bytes, size_t size)
{
    pkey_set(key, 0);
    memcpy(to, bytes, size);
    pkey_set(key, PKEY_DISABLE_WRITE);
}

int main(void)
{
    enum { SIZE = 65536 };
    int key = pkey_alloc(0, PKEY_DISABLE_WRITE);
    if (key < 0)
        return puts("no keys here"), 0;
    unsigned char *code = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &action, NULL);
    if (code == MAP_FAILED || pkey_mprotect(code, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, key) != 0)
        return perror("pkey_mprotect"), 1;
    volatile long sum = 0, caught = 0;
    for (volatile int i = 0; i < 2000; i++) {
        unsigned char *at = code + 64 * (i % 16);
        static unsigned char adds[] = { 0x8d, 0x47, 0, 0xc3 }; // lea i(%rdi), %eax; ret
        adds[2] = (unsigned char)(i & 63);
        write_code(key, at, adds, sizeof(adds));
        sum += ((function *)at)(i);
        if (i % 100 == 0 && sigsetjmp(back, 1) == 0)
            *(volatile unsigned char *)at = 0;
        else if (i % 100 == 0)
            caught++, pkey_set(key, PKEY_DISABLE_WRITE);
    }
    printf("%ld %ld %d\n", sum, caught, code_of_fault);
    const unsigned char faults[] = { 0x31, 0xc0, 0x8b, 0x00, 0xc3 }; // xor %eax, %eax; mov (%rax), %eax; ret
    write_code(key, code + 4096, faults, sizeof(faults));
    for (volatile int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0)
            ((function *)(code + 4096))(0);
        printf("%d\n", code_of_fault);
        pkey_set(key, PKEY_DISABLE_WRITE);
    }
    return 0;
}
