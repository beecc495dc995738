/* Loads GS with the selector of a segment that has a base. */
#define _GNU_SOURCE
#include <asm/ldt.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int
main(void)
{
    unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    struct user_desc segment = { .entry_number = 0, .limit = 0xfffff, .seg_32bit = 1, .limit_in_pages = 1, .useable = 1 };
    unsigned char value;
    segment.base_addr = (unsigned int)(uintptr_t)page;
    page[8] = 42;
    if (syscall(SYS_modify_ldt, 1, &segment, sizeof(segment)) != 0)
        return 1;
    puts("before");
    fflush(stdout);
    __asm__ volatile("mov %1, %%gs\n\tmovb %%gs:8, %0" : "=r"(value) : "r"(7) : "memory");
    printf("behind: %d\n", value);
    return 0;
}
