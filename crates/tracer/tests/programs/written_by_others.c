/* Code that is changed by another mapping of the same memory, by another process, or by a write to its file. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "made_code.h"

static void
by_a_child(uint8_t *code, int file, uint32_t value)
{
    uint8_t bytes[6];
    make(bytes, value);
    if (fork() == 0) {
        if (code != NULL)
            make(code, value);
        else
            pwrite(file, bytes, sizeof(bytes), 0);
        _exit(0);
    }
    wait(NULL);
}

static void
system_v(void)
{
    int id = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0700);
    uint8_t *first = shmat(id, NULL, 0);
    uint8_t *read = shmat(id, NULL, SHM_EXEC | SHM_RDONLY), *written = shmat(id, NULL, SHM_EXEC);
    shmctl(id, IPC_RMID, NULL);
    if (first == (void *)-1 || read == (void *)-1 || written == (void *)-1) {
        puts("no shared memory");
        return;
    }
    for (int i = 0; i < 3; i++) {
        make(i == 1 ? written : first, i);
        printf("System V %d %d\n", call(read), call(written));
    }
    by_a_child(first, -1, 3);
    printf("of a child %d %d\n", call(read), call(written));
    shmdt(written);
    shmdt(first);
    printf("%d\n", call(read));
    /* and what comes in its place */
    id = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0700);
    first = shmat(id, NULL, 0);
    make(first, 4);
    shmctl(id, IPC_RMID, NULL);
    shmat(id, read, SHM_EXEC | SHM_RDONLY | SHM_REMAP);
    printf("instead %d\n", call(read));
}

static void
files(void)
{
    FILE *file = tmpfile();
    int descriptor = fileno(file);
    uint8_t bytes[6];
    ftruncate(descriptor, PAGE);
    uint8_t *shared = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, descriptor, 0);
    for (int i = 0; i < 3; i++) {
        make(bytes, i);
        pwrite(descriptor, bytes, sizeof(bytes), 0);
        printf("file %d\n", call(shared));
    }
    by_a_child(NULL, descriptor, 3);
    printf("of a child %d\n", call(shared));
    fclose(file);
}

int
main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    system_v();
    files();
    return 0;
}
