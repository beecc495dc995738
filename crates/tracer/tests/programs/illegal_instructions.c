/* Instructions that are illegal, in memory far from all other code, and jumps to what cannot be executed: what a handler is told. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define RESUME_FLAG (1 << 16)

static sigjmp_buf back;
static char *code;

static void
on_fault(int signal, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    printf("signal %d, code %d, trap %d, at %d, %d, %s\n", signal, info->si_code, (int)registers[REG_TRAPNO],
           (int)((char *)registers[REG_RIP] - code), (int)((char *)info->si_addr - code),
           registers[REG_EFL] & RESUME_FLAG ? "to be resumed" : "behind");
    siglongjmp(back, 1);
}

static void
execute(const char *name, const char *bytes, size_t length)
{
    mprotect(code, 4096, PROT_READ | PROT_WRITE);
    memcpy(code, bytes, length);
    code[length] = (char)0xc3;
    mprotect(code, 4096, PROT_READ | PROT_EXEC);
    printf("%s: ", name);
    if (sigsetjmp(back, 1) == 0) {
        ((void (*)(void))code)();
        puts("executed");
    }
}
#define EXECUTE(name, bytes) execute(name, bytes, sizeof(bytes) - 1)

int
main(void)
{
    code = mmap((void *)0x7000000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
    EXECUTE("ud0", "\x0f\xff\xc0");
    EXECUTE("ud2", "\x0f\x0b");
    EXECUTE("aam", "\xd4\x0a");
    EXECUTE("lock of a register", "\xf0\x01\xc0");
    EXECUTE("a prefix before VEX", "\x66\xc5\xf8\x58\xc0");
    EXECUTE("a jump to what is not there", "\xe9\x00\x10\x00\x00");
    /* Where there are transactions, it begins one that ends in whatever way. */
    printf("%s\n", __builtin_cpu_supports("rtm") ? "transactions" : "no transactions");
    if (!__builtin_cpu_supports("rtm"))
        EXECUTE("xbegin", "\xc7\xf8\0\0\0\0");
    return 0;
}
