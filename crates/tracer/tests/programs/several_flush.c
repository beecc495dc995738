/* Threads call code on pages that two others make writable and back, hundreds of times. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "made_code.h"

enum { PAGES = 8, CALLERS = 6, ROUNDS = 200 };

static uint8_t *pages;
static volatile int wrong;

static void *
calls_all(void *unused)
{
    (void)unused;
    for (unsigned i = 1; !stop; i = i * 1103515245 + 12345) {
        int page = (i >> 8) % PAGES, place = (i >> 16) % 16;
        if (call(pages + page * PAGE + place * 64) != page * 16 + place)
            wrong = 1;
    }
    return NULL;
}

static void *
changes(void *number)
{
    unsigned random = 77 + (unsigned)(intptr_t)number;
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1103515245 + 12345;
        int first = (random >> 8) % PAGES, count = random >> 16 & 1 ? 1 : PAGES - first;
        mprotect(pages + first * PAGE, count * PAGE, PROT_READ | PROT_EXEC);
        mprotect(pages + first * PAGE, count * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
        if (random >> 28 == 0)
            usleep(100);
    }
    return NULL;
}

int
main(void)
{
    pthread_t callers[CALLERS], changers[2];
    pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < PAGES * 16; i++)
        make(pages + i / 16 * PAGE + i % 16 * 64, i);
    for (int i = 0; i < CALLERS; i++)
        pthread_create(&callers[i], NULL, calls_all, NULL);
    for (intptr_t i = 0; i < 2; i++)
        pthread_create(&changers[i], NULL, changes, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(changers[i], NULL);
    stop = 1;
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    printf("%s\n", wrong ? "wrong" : "as made");
    return 0;
}
