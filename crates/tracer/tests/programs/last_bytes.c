/* Code whose last byte is the last one of its mapping, behind which there is nothing, or nothing that
 * may be read or executed: it runs as anywhere else, and where it runs or reaches beyond, the fault is there, and what
 * came before has been done. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* RET stands 16 bytes before the end of the page, and "pop %rcx; ret" two before that; the code gets
 * that RET's address in rdi and that of a pointer to it in rsi. */
static const struct {
    const char *name;
    int bytes;
    unsigned char code[12];
} cases[] = {
    { "ret", 1, { 0xc3 } },
    { "add, ret", 4, { 0x83, 0xc0, 0x01, 0xc3 } },
    { "rep ret", 2, { 0xf3, 0xc3 } },
    { "ret 0", 3, { 0xc2, 0, 0 } },
    { "jmp short", 2, { 0xeb, 0xf0 } },
    { "jmp", 5, { 0xe9, 0xf0, 0xff, 0xff, 0xff } },
    { "xor, jz short", 4, { 0x31, 0xc9, 0x74, 0xf0 } },
    { "xor, jz", 8, { 0x31, 0xc9, 0x0f, 0x84, 0xf0, 0xff, 0xff, 0xff } },
    { "xor, jnz short", 4, { 0x31, 0xc9, 0x75, 0xf0 } },
    { "jmp register", 2, { 0xff, 0xe7 } },
    { "jmp memory", 2, { 0xff, 0x26 } },
    { "call", 5, { 0xe8, 0xee, 0xff, 0xff, 0xff } },
    { "call that returns", 5, { 0xe8, 0xf0, 0xff, 0xff, 0xff } },
    { "ud2", 2, { 0x0f, 0x0b } },
    { "int3", 1, { 0xcc } },
    { "hlt", 1, { 0xf4 } },
    { "syscall", 7, { 0xb8, 0x27, 0, 0, 0, 0x0f, 0x05 } },
    { "nop", 1, { 0x90 } },
    { "add", 3, { 0x83, 0xc0, 0x01 } },
    { "store", 2, { 0x89, 0x02 } },
    { "store, part of jmp", 5, { 0x89, 0x02, 0xe9, 0xf0, 0xff } },
    { "part of jmp", 3, { 0xe9, 0xf0, 0xff } },
    { "part of add", 2, { 0x83, 0xc0 } },
    { "part of test", 2, { 0xf7, 0xc0 } },
    { "part of an escape", 1, { 0x0f } },
    { "add, prefix", 4, { 0x83, 0xc0, 0x01, 0x48 } },
    { "part of a vector's", 3, { 0xc5, 0xf8, 0x10 } },
    { "part of an address", 2, { 0x8b, 0x04 } },
};

static unsigned char *page;
static sigjmp_buf back;
static volatile int stored;

static long
behind(const void *at)
{
    return (const unsigned char *)at - page - PAGE;
}

static void
fault(int sig, siginfo_t *info, void *context)
{
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    printf("signal %d, code %d, at %ld, eax %d", sig, info->si_code, behind((void *)regs[REG_RIP]),
           (int)regs[REG_RAX] == getpid() ? -1 : (int)regs[REG_RAX]);
    if (sig == SIGSEGV && info->si_code > 0 && info->si_code < 128)
        printf(", address %ld", behind(info->si_addr));
    printf(", trap %d\n", (int)regs[REG_TRAPNO]);
    siglongjmp(back, 1);
}

static void
run(int protection, int behind_it)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(page + PAGE - 16 - 2, "\x59\xc3\xc3", 3);
        unsigned char *code = memcpy(page + PAGE - cases[i].bytes, cases[i].code, (size_t)cases[i].bytes);
        void *target = page + PAGE - 16;
        if (behind_it < 0)
            munmap(page + PAGE, PAGE);
        else
            mprotect(page + PAGE, PAGE, behind_it);
        mprotect(page, PAGE, protection);
        for (int twice = 0; twice < 2; twice++) {
            stored = 0;
            printf("%d, %d, %s: ", protection, behind_it, cases[i].name);
            if (sigsetjmp(back, 1) == 0) {
                int eax = 5, *to = (int *)&stored;
                void *in[] = { target };
                __asm__ volatile("lea -128(%%rsp), %%rsp; call *%1; lea 128(%%rsp), %%rsp"
                                 : "+a"(eax)
                                 : "r"(code), "D"(target), "S"(in), "d"(to)
                                 : "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
                printf("returned %d\n", eax);
            }
            if (stored)
                printf("  stored %d\n", stored);
        }
        munmap(page, behind_it < 0 ? PAGE : 2 * PAGE);
    }
}

int
main(void)
{
    struct sigaction action = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO };
    static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGTRAP };
    for (int i = 0; i < 4; i++)
        sigaction(signals[i], &action, NULL);
    int rx = PROT_READ | PROT_EXEC, rwx = rx | PROT_WRITE;
    run(rx, -1);
    run(rx, PROT_NONE);
    run(rx, PROT_READ | PROT_WRITE);
    run(rwx, -1);
    run(rwx, PROT_NONE);
    return 0;
}
