/* Loads and stores tiles (AMX) without the kernel's permission to use them, on a processor that may have none: both are refused.
 * Prints which signal came, and why. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

#define LOAD ".byte 0xc4, 0xe2, 0x7b, 0x4b, 0x0c, 0x08"  /* tileloadd (%rax,%rcx), %tmm1 */
#define STORE ".byte 0xc4, 0xe2, 0x7a, 0x4b, 0x0c, 0x08" /* tilestored %tmm1, (%rax,%rcx) */
#define CONFIGURE ".byte 0xc4, 0xe2, 0x78, 0x49, 0x00"   /* ldtilecfg (%rax) */

static sigjmp_buf back;
static char memory[1024];
static struct {
    unsigned char palette, start_row, reserved[14];
    unsigned short row_bytes[16];
    unsigned char rows[16];
} one = { .palette = 1, .row_bytes[1] = 64, .rows[1] = 16 };

static void
refused(int number, siginfo_t *info, void *context)
{
    printf("signal %d, code %d\n", number, info->si_code);
    siglongjmp(back, 1);
}

#define TRY(what, instruction, address)                                                           \
    do {                                                                                          \
        if (sigsetjmp(back, 1) == 0) {                                                            \
            __asm__ volatile(instruction : : "a"(address), "c"(64L) : "memory");                  \
            puts(what);                                                                           \
        }                                                                                         \
    } while (0)

int
main(void)
{
    struct sigaction action = { .sa_sigaction = refused, .sa_flags = SA_SIGINFO };
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < 3; i++) {
        TRY("loaded", LOAD, memory);
        TRY("configured", CONFIGURE, &one);
        TRY("loaded", LOAD, memory);
        TRY("stored", STORE, memory);
    }
    return 0;
}
