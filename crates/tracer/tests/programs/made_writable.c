/* Two threads write code, each its own, once they have made it writable, and call it; others call it all the time. */
#include <pthread.h>
#include <stdio.h>

#include "made_code.h"

enum { WRITERS = 2, CALLERS = 4, ROUNDS = 300 };

static uint8_t *pages;
static volatile int wrong;

static void *
calls_both(void *unused)
{
    (void)unused;
    for (unsigned i = 0; !stop; i++)
        call(pages + i % WRITERS * PAGE);
    return NULL;
}

static void *
writes(void *number)
{
    uint8_t *page = pages + (intptr_t)number * PAGE;
    for (int i = 0; i < ROUNDS; i++) {
        mprotect(page, PAGE, PROT_READ | PROT_EXEC);
        mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
        /* the constant, within one line */
        *(volatile uint32_t *)(page + 1) = i;
        if (call(page) != i)
            wrong = 1;
    }
    return NULL;
}

int
main(void)
{
    pthread_t callers[CALLERS], writers[WRITERS];
    pages = mmap(NULL, WRITERS * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                 0);
    for (int i = 0; i < WRITERS; i++)
        make(pages + i * PAGE, 0);
    for (int i = 0; i < CALLERS; i++)
        pthread_create(&callers[i], NULL, calls_both, NULL);
    for (intptr_t i = 0; i < WRITERS; i++)
        pthread_create(&writers[i], NULL, writes, (void *)i);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    stop = 1;
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    printf("%s\n", wrong ? "old code ran" : "as written");
    return 0;
}
