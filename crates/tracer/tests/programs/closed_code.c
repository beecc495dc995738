// Code that can be executed and not be read: in memory that may only be executed, and behind a key that its thread has closed.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef int function(int);

enum { SIZE = 8192 };
static sigjmp_buf back;
static volatile int code_of_fault;

static void handler(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    code_of_fault = info->si_code;
    siglongjmp(back, 1);
}

static void adds(unsigned char *to, int summand)
{
    unsigned char code[] = { 0x8d, 0x47, (unsigned char)summand, 0xc3 }; // lea summand(%rdi), %eax; ret
    memcpy(to, code, sizeof(code));
}

static const char *reads(const unsigned char *from)
{
    code_of_fault = 0;
    if (sigsetjmp(back, 1) == 0)
        return *(const volatile unsigned char *)from == 0x8d ? "read" : "other";
    return code_of_fault == SEGV_PKUERR ? "closed" : "fault";
}

static unsigned char *memory(void)
{
    return mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void)
{
    int key = pkey_alloc(0, 0);
    if (key < 0)
        return puts("no keys here"), 0;
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &action, NULL);
    unsigned char *code = memory();
    for (int i = 0; i < 4; i++) {
        mprotect(code, SIZE, PROT_READ | PROT_WRITE);
        adds(code, i);
        adds(code + 4096, i + 20);
        mprotect(code, SIZE, PROT_EXEC);
        printf("%d %d, ", ((function *)code)(5), ((function *)(code + 4096))(5));
        printf("%s, %d, ", reads(code), pkey_get(key));
        printf("%d\n", ((function *)code)(6));
    }
    unsigned char *closed = memory();
    pkey_mprotect(closed, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, key);
    for (int i = 0; i < 4; i++) {
        pkey_set(key, 0);
        adds(closed, 2 * i);
        pkey_set(key, PKEY_DISABLE_ACCESS);
        printf("%d, %d, ", ((function *)closed)(5), pkey_get(key));
        printf("%s, %d, ", reads(closed), ((function *)closed)(6));
        // What is not there, with the key closed.
        if (sigsetjmp(back, 1) == 0)
            ((function *)(closed + SIZE * 1024L))(7);
        printf("%d\n", code_of_fault);
    }
    return 0;
}
