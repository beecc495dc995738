/* Functions that are made at run time: each returns a number. */
#ifndef MADE_CODE_H
#define MADE_CODE_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static inline void
make(uint8_t *code, uint32_t value)
{
    code[0] = 0xb8; /* mov $VALUE, %eax; ret */
    memcpy(code + 1, &value, 4);
    code[5] = 0xc3;
}

static inline int
call(const uint8_t *code)
{
    return ((int (*)(void))(uintptr_t)code)();
}

/* A page of its own. */
static inline uint8_t *
map(int prot)
{
    return mmap(NULL, PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* What a thread that runs `calls` calls until it is to stop, and what that returned last. */
static uint8_t *shared;
static volatile int seen, stop;

static inline void *
calls(void *unused)
{
    (void)unused;
    while (!stop)
        seen = call(shared);
    return NULL;
}

/* Whether that thread's call returns the value, within a second or so. */
static inline int
comes_to_be_seen(int value)
{
    for (int k = 0; k < 1000 && seen != value; k++)
        usleep(1000);
    return seen == value;
}

#endif
