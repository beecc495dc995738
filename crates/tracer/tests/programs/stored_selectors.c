/* Selectors that are stored to memory take two bytes there, with any prefix and by any way to name the place. */
#include <stdio.h>
#include <string.h>

static unsigned short places[64] __attribute__((aligned(16)));

static void
show(const char *what)
{
    printf("%s:", what);
    for (int i = 0; i < 8; i++)
        printf(" %x", places[i]);
    puts("");
    memset(places, 0x77, sizeof(places));
}

int
main(void)
{
    unsigned long index = 1;
    memset(places, 0x77, sizeof(places));
    __asm__ volatile("mov %%fs, %0" : "=m"(places[0]));
    show("fs");
    __asm__ volatile("mov %%gs, places+2(%%rip)" : : : "memory");
    show("gs by the instruction pointer");
    __asm__ volatile("rex.w mov %%fs, (%0,%1,4)" : : "r"(places), "r"(index) : "memory");
    show("fs as a wide operand");
    __asm__ volatile("data16 mov %%gs, (%0)" : : "c"(places) : "memory");
    show("gs as a narrow operand");
    __asm__ volatile("mov %%ss, %0" : "=m"(places[3]));
    show("ss");
    return 0;
}
