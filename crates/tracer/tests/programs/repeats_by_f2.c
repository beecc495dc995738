/* String instructions that the prefix of "repne" repeats: all are, though only those that compare look at the flag. */
#include <stdio.h>
#include <string.h>

static unsigned char from[256], to[256];

/* Each in a block of its own, where nothing else uses rcx. */
#define SHOW(name, bytes)                                                                                                        \
    do {                                                                                                                         \
        for (int i = 0; i < 256; i++) {                                                                                          \
            from[i] = (unsigned char)i;                                                                                          \
            to[i] = (unsigned char)(255 - i);                                                                                    \
        }                                                                                                                        \
        void *source = from + 16, *target = to + 16;                                                                             \
        unsigned long count = 9, value = 0x1234, sum = 0;                                                                        \
        __asm__ volatile("jmp 1f\n1: .byte " bytes "\n jmp 1f\n1:"                                                               \
                         : "+S"(source), "+D"(target), "+c"(count), "+a"(value)                                                  \
                         :                                                                                                       \
                         : "memory", "cc");                                                                                      \
        for (int i = 0; i < 256; i++)                                                                                            \
            sum = sum * 31 + to[i];                                                                                              \
        printf("%s: %ld %ld %lu %lx %lx\n", name, (long)((unsigned char *)source - from), (long)((unsigned char *)target - to), \
               count, value, sum);                                                                                               \
    } while (0)

int
main(void)
{
    for (int i = 0; i < 3; i++) {
        SHOW("movsb", "0xf2, 0xa4");
        SHOW("movsq", "0xf2, 0x48, 0xa5");
        SHOW("stosb", "0xf2, 0xaa");
        SHOW("stosl", "0xf2, 0xab");
        SHOW("lodsb", "0xf2, 0xac");
        SHOW("lodsq", "0xf2, 0x48, 0xad");
        SHOW("movsb by both", "0xf3, 0xf2, 0xa4");
        SHOW("scasb", "0xf2, 0xae");
        SHOW("cmpsb", "0xf2, 0xa6");
    }
    return 0;
}
