/* In each of sixteen pages, code that runs lies beside data that is written: a call, a store, a call, and so on. The code itself never
 * changes. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGES = 16, PAGE = 4096, DATA = 2048, ROUNDS = 20000000 };

int main(void) {
    unsigned char *memory =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    for (int page = 0; page < PAGES; page++) {
        unsigned char returns[] = {0xb8, (unsigned char)page, 0, 0, 0, 0xc3}; /* mov $page, %eax; ret */
        memcpy(memory + page * PAGE, returns, sizeof returns);
    }
    unsigned long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        unsigned char *page = memory + i % PAGES * PAGE;
        page[DATA] = (unsigned char)i;
        int (*code)(void) = (int (*)(void))page;
        sum += (unsigned long)code() + page[DATA];
    }
    printf("%lu\n", sum);
    return 0;
}
