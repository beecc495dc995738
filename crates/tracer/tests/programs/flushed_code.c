/* A thread calls code whose page another one makes writable and back all the time, which has the code translated anew. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ROUNDS = 150 };

static uint8_t *code;
static volatile int stop, wrong;

static void *
calls(void *unused)
{
    (void)unused;
    while (!stop)
        wrong += ((int (*)(void))(uintptr_t)code)() != 7;
    return NULL;
}

int
main(void)
{
    static const uint8_t bytes[] = { 0xb8, 7, 0, 0, 0, 0xc3 }; /* mov $7, %eax; ret */
    pthread_t thread;
    code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, bytes, sizeof(bytes));
    pthread_create(&thread, NULL, calls, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        mprotect(code, PAGE, PROT_READ | PROT_EXEC);
        usleep(200);
        mprotect(code, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
    }
    stop = 1;
    pthread_join(thread, NULL);
    printf("%d wrong\n", wrong);
    return 0;
}
