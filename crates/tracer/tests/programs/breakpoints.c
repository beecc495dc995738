/* Breakpoints in the code, as programs have them to stop in a debugger, before all that may follow: each is told to a handler,
 * with where it was and the registers, and the program goes on behind it. With "traps" it takes `icebp` for breakpoints; some
 * virtual machines make a fault of that, which comes again and again: then it ends with 77. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

void before_return(void), before_move(void), before_jump(void), before_call(void), of_two_bytes(void), alone(void),
    traps_return(void), traps_jump(void);
extern char ends_return[], ends_move[], ends_jump[], ends_call[], ends_two[], ends_alone[], ends_traps_return[],
    ends_traps_jump[];

__asm__(".text\n"
        "before_return: int3\n ends_return: ret\n"
        "before_move: int3\n ends_move: mov %rax, -8(%rsp)\n ret\n"
        "before_jump: push %rbx\n int3\n ends_jump: jmp *1f(%rip)\n 2: pop %rbx\n ret\n"
        "before_call: int3\n ends_call: call before_move\n ret\n"
        "of_two_bytes: .byte 0xcd, 3\n ends_two: ret\n"
        "alone: mov %rax, -8(%rsp)\n int3\n ends_alone: cpuid\n ret\n"
        "traps_return: .byte 0xf1\n ends_traps_return: ret\n"
        "traps_jump: push %rbx\n .byte 0xf1\n ends_traps_jump: jmp *1f(%rip)\n"
        ".data\n 1: .quad 2b\n.text\n");

static char *volatile expected;
static volatile int told, wrong;

static void
on_trap(int signal, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (registers[REG_RIP] == (greg_t)expected - 1)
        _exit(77);
    told++;
    /* In another one that is called, it is that one's. */
    if (registers[REG_RIP] != (greg_t)expected && registers[REG_RIP] != (greg_t)ends_move)
        wrong++;
    if (registers[REG_RAX] != 0x1234567890 || registers[REG_RCX] != 0x77)
        wrong++;
    printf("signal %d, code %d, %d, %s\n", signal, info->si_code, (int)registers[REG_TRAPNO],
           info->si_addr == NULL ? "nowhere" : info->si_addr == expected ? "here" : "elsewhere");
}

static void
stop(void (*where)(void), char *end)
{
    expected = end;
    unsigned long a = 0x1234567890, c = 0x77;
    __asm__ volatile("call *%2" : "+a"(a), "+c"(c) : "r"(where) : "memory", "cc", "rbx", "rdx");
}

int
main(int count, char **words)
{
    (void)words;
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, NULL);
    for (int i = 0; i < 3 && count > 1; i++) {
        stop(traps_return, ends_traps_return);
        stop(traps_jump, ends_traps_jump);
    }
    for (int i = 0; i < 3 && count == 1; i++) {
        stop(before_return, ends_return);
        stop(before_move, ends_move);
        stop(before_jump, ends_jump);
        stop(before_call, ends_call);
        stop(of_two_bytes, ends_two);
        stop(alone, ends_alone);
    }
    printf("%d told, %d wrong\n", told, wrong);
    return 0;
}
