/* What the processor refuses to execute, each with all that a handler is told of it; and what segment registers are given. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096, AT = 8 };

static sigjmp_buf back;
static unsigned char *code;

static void
on_fault(int signal, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    long address = info->si_addr == NULL ? -1 : (unsigned char *)info->si_addr - code;
    printf(" signal %d, code %d, at %ld of %ld, trap %d, error %x\n", signal, info->si_code, address,
           (long)registers[REG_RIP] - (long)code, (int)registers[REG_TRAPNO], (unsigned)registers[REG_ERR]);
    siglongjmp(back, 1);
}

static void
try(const char *name, const char *bytes, size_t length)
{
    mprotect(code, PAGE, PROT_READ | PROT_WRITE);
    memset(code, 0x90, 64);
    memcpy(code + AT, bytes, length);
    code[AT + length] = 0xc3;
    mprotect(code, PAGE, PROT_READ | PROT_EXEC);
    printf("%s:", name);
    if (sigsetjmp(back, 1) == 0) {
        __asm__ volatile("call *%0" : : "r"(code), "a"(0x10), "c"(0), "d"(0) : "memory", "cc");
        printf(" done\n");
    }
}

#define TRY(name, bytes) try(name, bytes, sizeof(bytes) - 1)

/* On others it is a system call of 32-bit programs, whatever comes of that. */
static int
is_amd(void)
{
    unsigned a, b = 0, c, d;
    __get_cpuid(0, &a, &b, &c, &d);
    return b == signature_AMD_ebx;
}

int
main(void)
{
    static const int signals[] = { SIGILL, SIGSEGV, SIGBUS };
    struct sigaction action;
    unsigned short before, es;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &action, NULL);
    code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TRY("ud0", "\x0f\xff\xc0");
    TRY("ud1", "\x0f\xb9\xc0");
    TRY("ud2", "\x0f\x0b");
    TRY("lock nop", "\xf0\x90");
    TRY("lock mov", "\xf0\x89\xc0");
    TRY("lock before no opcode", "\xf0\x0f\x0a");
    TRY("aam", "\xd4\x0a");
    TRY("push es", "\x06");
    TRY("hlt", "\xf4");
    TRY("rdmsr", "\x0f\x32");
    TRY("int 5", "\xcd\x05");
    if (is_amd())
        TRY("sysenter", "\x0f\x34");
    TRY("a wrong selector for es", "\x8e\xc0");
    __asm__ volatile("mov %%es, %0\n mov %2, %%es\n mov %%es, %1\n mov %0, %%es"
                     : "=&r"(before), "=r"(es)
                     : "r"((unsigned short)0x2b));
    printf("es %x\n", es);
    return 0;
}
