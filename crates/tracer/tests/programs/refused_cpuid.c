/* Where the processor can refuse cpuid, a program that has it refused (ARCH_SET_CPUID) handles the fault; what else it does
 * goes on. Without such a processor it ends with 77. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SET_CPUID 0x1012

static sigjmp_buf back;
static unsigned char area[4096 * 4] __attribute__((aligned(64)));

static void
on_fault(int sig)
{
    siglongjmp(back, sig);
}

static void
ask(const char *who)
{
    unsigned int a = 0, b, c = 0, d;
    int sig = sigsetjmp(back, 1);
    if (sig == 0) {
        __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
        printf("%s: answered\n", who);
    } else {
        printf("%s: signal %d\n", who, sig);
    }
}

static void
save(void)
{
    __asm__ volatile("xsave64 %0" : "=m"(area) : "a"(7), "d"(0) : "memory");
}

int
main(void)
{
    int status;
    if (syscall(SYS_arch_prctl, SET_CPUID, 0) != 0)
        return 77;
    signal(SIGSEGV, on_fault);
    ask("parent");
    save();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        ask("child");
        save();
        fflush(stdout);
        execl("/bin/echo", "echo", "executed", NULL);
    }
    waitpid(child, &status, 0);
    printf("child %x\n", status);
    syscall(SYS_arch_prctl, SET_CPUID, 1);
    ask("allowed again");
    return 0;
}
