/* Loads GS from the stack. */
#include <stdio.h>

int
main(void)
{
    puts("before");
    fflush(stdout);
    __asm__ volatile("push $0\n\tpopq %%gs" : : : "memory");
    puts("behind");
    return 0;
}
