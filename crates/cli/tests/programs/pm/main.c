#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pm.h"

static const program_t *
find(const char *name)
{
    const program_t *const all[] = { flag_programs, log_programs, link_programs, torn_programs,
                                     other_programs };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        for (const program_t *p = all[i]; p->name != NULL; p++) {
            if (name == NULL)
                puts(p->name);
            else if (strcmp(p->name, name) == 0)
                return p;
        }
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    const program_t *program = find(argc == 4 ? argv[1] : NULL);
    if (program == NULL)
        return 2;
    int fd = open(argv[3], O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(pool_t)) != 0)
        return 2;
    pool_t *pool = mmap(NULL, sizeof(*pool), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (pool == MAP_FAILED)
        return 2;
    if (strcmp(argv[2], "check") == 0)
        return program->check(pool) ? 0 : 1;
    program->run(pool, strcmp(argv[2], "bad") == 0);
    /* What exit() does has locks, and those are fences. */
    _exit(0);
}
