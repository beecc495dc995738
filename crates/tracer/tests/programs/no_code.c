/* Jumps to what is not code, each told of by a signal as the kernel tells of it. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static const unsigned char seven[] = { 0xb8, 7, 0, 0, 0, 0xc3 }; /* mov $7, %eax; ret */
static unsigned char data[sizeof(seven)];
static sigjmp_buf back;
static void *aim;
static char told[120];

static void
on_fault(int sig, siginfo_t *info, void *context)
{
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    const char *where = info->si_addr == aim ? "there" : info->si_addr == NULL ? "nowhere" : "elsewhere";
    snprintf(told, sizeof(told), "signal %d, code %d, %s, trap %d, error %#x", sig, info->si_code, where,
             (int)regs[REG_TRAPNO], (int)regs[REG_ERR]);
    siglongjmp(back, 1);
}

static void
jump(const char *name, void *to)
{
    int (*call)(void);
    memcpy(&call, &to, sizeof(call));
    aim = to;
    if (sigsetjmp(back, 1) == 0)
        printf("%s: %d\n", name, call());
    else
        printf("%s: %s\n", name, told);
}

int
main(void)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &action, NULL);
    unsigned char local[sizeof(seven)];
    memcpy(local, seven, sizeof(seven));
    memcpy(data, seven, sizeof(seven));
    jump("data", data);
    jump("stack", local);
    unsigned char *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, seven, sizeof(seven));
    jump("heap", page);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    jump("executable", page);
    mprotect(page, 4096, PROT_READ);
    jump("read-only", page);
    mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    jump("all", page);
    mprotect(page, 4096, PROT_NONE);
    jump("none", page);
    munmap(page, 4096);
    jump("unmapped", page);
    jump("null", NULL);
    jump("not canonical", (void *)0x4141414141414141);
    return 0;
}
