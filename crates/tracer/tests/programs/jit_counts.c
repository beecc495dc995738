/* Made code of 40 instructions, among them one store to other made code that ran before, N times. */
#include "jit_call.h"

const char *const jit_reg_names[REGS + 1] = { "rax" };

int
main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    uint8_t *code = pages(2, RWX);
    uint8_t *target = code + 4096;
    maker_t m = { code };
    for (int i = 0; i < 20; i++)
        CODE(&m, "\x48\x8d\x5b\x01"); /* lea 1(%rbx),%rbx */
    CODE(&m, "\x89\x4a\x01");         /* mov %ecx,1(%rdx) */
    for (int i = 0; i < 19; i++)
        CODE(&m, "\x48\x8d\x5b\x01");
    CODE(&m, "\xc3");
    memcpy(target, "\xb8\0\0\0\0\xc3", 6);
    int (*made)(void) = (int (*)(void))target;
    for (int i = 0; i < rounds; i++) {
        uint64_t count = 0;
        __asm__ volatile("call *%1" : "+b"(count) : "r"(code), "c"(i), "d"(target) : "memory", "cc");
        if (count != 39 || made() != i) {
            printf("round %d: %d instructions, %d\n", i, (int)count, made());
            return 1;
        }
    }
    return 0;
}
