/* Calls to a virtual machine's monitor, which may answer a program or not; and instructions about
 * bounds, which have done nothing since kernels know of none, at addresses where nothing is. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static sigjmp_buf back;
static unsigned long memory[8];

static void
on_fault(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

static void
call(void)
{
    unsigned long answer = 1000; /* no call has that number */
    if (sigsetjmp(back, 1) == 0) {
        __asm__ volatile("lea -128(%%rsp), %%rsp\n\tcall 1f\n\tjmp 2f\n1:\tvmcall\n\tret\n2:\tlea 128(%%rsp), %%rsp"
                         : "+a"(answer)
                         : "c"(0), "d"(0), "b"(0), "S"(0)
                         : "memory");
        printf("answered %ld\n", (long)answer);
    } else {
        puts("refused");
    }
}

static void
bounds(unsigned long *at)
{
    const char *said = "faulted";
    if (sigsetjmp(back, 1) == 0) {
        /* bndmov %bnd0, (%rsi); bndmov (%rsi), %bnd0; bndstx %bnd0, (%rsi, %rdi); bndmk 8(%rsi), %bnd1 */
        __asm__ volatile(".byte 0x66, 0x0f, 0x1b, 0x06, 0x66, 0x0f, 0x1a, 0x06, 0x0f, 0x1b, 0x04, 0x3e, 0xf3, 0x0f, 0x1b, 0x4e, 0x08"
                         :
                         : "S"(at), "D"(0)
                         : "memory");
        said = "did nothing";
    }
    puts(said);
}

int
main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_fault;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGILL, &action, NULL);
    for (int i = 0; i < 3; i++)
        call();
    bounds(memory);
    bounds(NULL);
    return 0;
}
