/* Code in the place of other code, by mappings that are as accessible as what was there, and code that has been moved: what is executed,
 * and whether it can be written. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "made_code.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

enum { ROUNDS = 10, ANY = PROT_READ | PROT_WRITE | PROT_EXEC, NEVER = 1000 };

static sigjmp_buf back;

static void
on_fault(int sig)
{
    siglongjmp(back, sig);
}

static int
file_of(uint32_t value)
{
    uint8_t bytes[6];
    int file = memfd_create("code", 0);
    make(bytes, value);
    if (ftruncate(file, PAGE) != 0 || write(file, bytes, sizeof(bytes)) != sizeof(bytes))
        return -1;
    return file;
}

static void
map_over(uint8_t *code, int prot, int kind, uint32_t value)
{
    int file = file_of(value);
    mmap(code, PAGE, prot, kind | MAP_FIXED, file, 0);
    close(file);
}

static void
mapped_over(int prot, int kind)
{
    uint8_t *code = map(prot);
    int sum = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        map_over(code, prot, kind, i);
        sum = 3 * sum + call(code);
    }
    printf("mapped over with %d, %d: %d\n", prot, kind, sum);
}

/* What it writes and executes by turns, "code" first. */
static void
used(const char *what, uint8_t *code)
{
    printf("%s: %d", what, call(code));
    for (uint32_t i = 50; i < 53; i++) {
        make(code, i);
        printf(" %d", call(code));
    }
    puts("");
}

static void
moved(int flags)
{
    uint8_t *code = map(ANY), *place = map(ANY);
    make(code, 1);
    make(place, 2);
    int sum = call(code) + call(place);
    uint8_t *now = mremap(code, PAGE, PAGE, MREMAP_MAYMOVE | flags, place);
    printf("moved with %d: %d, %d\n", flags, sum, now != code);
    used("there", now);
    if (flags == MREMAP_DONTUNMAP) {
        make(code, 3);
        used("where it was", code);
        used("there", now);
    }
}

static void
stays_unwritable(void)
{
    uint8_t *code = map(ANY), *other = map(PROT_READ);
    make(code, 1);
    int before = call(code);
    mremap(other, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, code);
    int fault = sigsetjmp(back, 1);
    if (fault == 0)
        *(volatile uint8_t *)code = 1;
    printf("%d, then written: %d\n", before, fault);
}

static void
seen_by_others(int kind)
{
    pthread_t thread;
    int lost = 0;
    stop = 0;
    shared = map(PROT_READ | PROT_EXEC);
    map_over(shared, PROT_READ | PROT_EXEC, kind, NEVER);
    pthread_create(&thread, NULL, calls, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        map_over(shared, PROT_READ | PROT_EXEC, kind, (uint32_t)i);
        lost += !comes_to_be_seen(i);
    }
    stop = 1;
    pthread_join(thread, NULL);
    printf("lost: %d\n", lost);
}

int
main(void)
{
    signal(SIGSEGV, on_fault);
    mapped_over(PROT_READ | PROT_EXEC, MAP_PRIVATE);
    mapped_over(ANY, MAP_PRIVATE);
    mapped_over(PROT_READ | PROT_EXEC, MAP_SHARED);
    moved(MREMAP_FIXED);
    moved(MREMAP_DONTUNMAP);
    stays_unwritable();
    seen_by_others(MAP_PRIVATE);
    seen_by_others(MAP_SHARED);
    return 0;
}
