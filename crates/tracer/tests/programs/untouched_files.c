// Mappings of shared memory, of which nothing is there before the program touches it.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 16, PAGE = 4096 };

static void show(char *memory)
{
    unsigned char there[PAGES];
    if (mincore(memory, PAGES * PAGE, there) != 0)
        perror("mincore");
    for (int i = 0; i < PAGES; i++)
        putchar('0' + (there[i] & 1));
    putchar('\n');
}

int main(void)
{
    static const int protections[] = { PROT_READ, PROT_READ | PROT_WRITE, PROT_NONE };
    for (int i = 0; i < 3; i++) {
        int file = memfd_create("untouched", 0);
        if (file < 0 || ftruncate(file, PAGES * PAGE) != 0)
            return perror("memfd_create"), 1;
        char *memory = mmap(NULL, PAGES * PAGE, protections[i], MAP_SHARED, file, 0);
        if (memory == MAP_FAILED)
            return perror("mmap"), 1;
        show(memory);
        if (protections[i] & PROT_WRITE) {
            memory[3 * PAGE] = 1;
            show(memory);
        }
        munmap(memory, PAGES * PAGE);
        close(file);
    }
    return 0;
}
