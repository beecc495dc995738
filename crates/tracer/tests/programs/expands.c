/* Loads packed elements, which no instruction stores; says where they are. Without AVX-512 it ends with 77. */
#include <stdio.h>

static double area[8] __attribute__((aligned(64)));

int
main(void)
{
    if (!__builtin_cpu_supports("avx512f"))
        return 77;
    printf("%p\n", (void *)area);
    __asm__ volatile("mov $0x2c, %%eax\n\tkmovw %%eax, %%k1\n\tvexpandpd %0, %%zmm0%{%%k1%}%{z%}\n\tvexpandps %0, %%zmm1%{%%k1%}"
                     :
                     : "m"(area)
                     : "eax", "xmm0", "xmm1");
    return 0;
}
