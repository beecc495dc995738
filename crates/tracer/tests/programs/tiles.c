/* What becomes of tiles (AMX) when signals are delivered, and of the signals: says what is left of them, and what the handlers'
 * frames have. Without tiles it ends with 77. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "tiles.h"

/* Where the frame has what sigreturn takes: sizes at the end of the old part, then the header. */
#define SIZES 464
#define HEADER 512
#define CONFIG_AT 2752
#define TILES_AT 2816

static uint8_t pattern[1024], out[1024];
static volatile int handled;
static volatile int in_handler_too; /* the handler uses tiles of its own */
static volatile int quiet;

static void
fill(unsigned int seed)
{
    for (int i = 0; i < 1024; i++)
        pattern[i] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
}

static void
own_tiles(unsigned int seed)
{
    fill(seed);
    configure();
    tile_load(0, pattern, 64);
    tile_load(7, pattern, 32);
}

static void
say_tiles(const char *what)
{
    struct config c;
    store_config(&c);
    printf("%s: palette %d, rows %d", what, c.palette, c.rows[0]);
    if (c.palette) {
        memset(out, 0, sizeof(out));
        tile_store(0, out, 64);
        printf(", %016lx", sum(out, sizeof(out)));
        tile_store(7, out, 64);
        printf(", %016lx", sum(out, sizeof(out)));
    }
    printf("\n");
}

static void
on_signal(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    const uint8_t *frame = (const uint8_t *)uc->uc_mcontext.fpregs;
    uint32_t extended, size, behind;
    uint64_t features, present;
    struct config c, theirs;
    store_config(&c);
    handled++;
    if (quiet) {
        release();
        return;
    }
    memcpy(&extended, frame + SIZES + 4, 4);
    memcpy(&features, frame + SIZES + 8, 8);
    memcpy(&size, frame + SIZES + 16, 4);
    memcpy(&present, frame + HEADER, 8);
    memcpy(&behind, frame + size, 4);
    printf("signal %d, code %d: begins with palette %d; frame of %u and %u, %lx, ends with %x, tiles %lx\n", sig,
           info->si_code, c.palette, extended, size, features, behind, present >> 17 & 3);
    if (present >> 18 & 1) {
        memcpy(&theirs, frame + CONFIG_AT, sizeof(theirs));
        printf("in the frame: palette %d, row %d, %016lx\n", theirs.palette, theirs.start_row,
               sum(frame + TILES_AT, 1024));
    }
    if (sig == SIGSEGV) {
        char *page = (char *)((uintptr_t)info->si_addr & ~4095ul);
        mprotect(page, 4096, PROT_READ | PROT_WRITE);
    }
    if (in_handler_too) {
        uint8_t mine[1024];
        in_handler_too--;
        memset(mine, 0x5a, sizeof(mine));
        configure();
        tile_load(0, mine, 64);
        tile_load(7, mine, 64);
        if (in_handler_too > 0)
            raise(SIGUSR2);
        tile_store(0, mine, 64);
        printf("in the handler: %016lx\n", sum(mine, sizeof(mine)));
    }
}

static void
on(int sig, int flags)
{
    struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags };
    sigaction(sig, &act, NULL);
}

static void
alternate(void)
{
    static char stack[128 * 1024] __attribute__((aligned(16)));
    stack_t s = { .ss_sp = stack, .ss_size = sizeof(stack) };
    sigaltstack(&s, NULL);
    on(SIGUSR1, SA_ONSTACK);
    on(SIGUSR2, SA_ONSTACK);
    own_tiles(2);
    in_handler_too = 3;
    raise(SIGUSR1);
    say_tiles("alternate stack");
    s = (stack_t){ .ss_flags = SS_DISABLE };
    sigaltstack(&s, NULL);
}

static void
faults(void)
{
    char *area = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    on(SIGSEGV, SA_NODEFER);
    own_tiles(3);
    mprotect(area, 4096, PROT_NONE);
    *(volatile char *)(area + 100) = 1;
    say_tiles("a store that faults");
    mprotect(area + 4096, 4096, PROT_NONE);
    tile_store(0, area + 4096 - 640, 64); /* in its middle */
    printf("stored %016lx\n", sum(area + 4096 - 640, 1024));
    say_tiles("a store of a tile that faults");
    mprotect(area + 4096, 4096, PROT_NONE);
    in_handler_too = 1;
    tile_load(0, area + 4096 - 320, 64);
    say_tiles("a load of a tile that faults");
    munmap(area, 2 * 4096);
}

/* The same product over and over, whatever comes in between. */
static int
products(long rounds, volatile int *until)
{
    uint8_t a[1024], b[1024];
    int32_t first[256], now[256];
    int wrong = 0;
    for (int i = 0; i < 1024; i++) {
        a[i] = (uint8_t)(i * 7 + 3);
        b[i] = (uint8_t)(i * 5 - 1);
    }
    configure();
    tile_load(2, a, 64);
    tile_load(3, b, 64);
    for (long i = 0; i < rounds || (until != NULL && !*until); i++) {
        tile_zero(1);
        for (int k = 0; k < 20; k++)
            tile_multiply();
        tile_store(1, i == 0 ? first : now, 64);
        wrong += i > 0 && memcmp(first, now, sizeof(first)) != 0;
    }
    release();
    return wrong + (first[17] == 0);
}

static volatile int enough;

static void *
worker(void *unused)
{
    return (void *)(long)products(10, &enough);
}

static void *
sender(void *to)
{
    for (int i = 0; i < 300; i++) {
        pthread_kill(*(pthread_t *)to, SIGUSR1);
        usleep(200);
    }
    enough = 1;
    return NULL;
}

static void
from_others(void)
{
    pthread_t threads[3], s;
    void *wrong;
    long all = 0;
    quiet = 1;
    handled = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    pthread_create(&s, NULL, sender, &threads[1]);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &wrong);
        all += (long)wrong;
    }
    pthread_join(s, NULL);
    printf("from another thread: %ld wrong, %s\n", all, handled > 0 ? "handled" : "none");
    on(SIGALRM, 0);
    handled = 0;
    struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
    setitimer(ITIMER_REAL, &every, NULL);
    all = 0;
    do
        all += products(1000, NULL);
    while (handled < 100);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("of a timer: %ld wrong\n", all);
    quiet = 0;
}

static volatile int begun;

/* Its first tiles come in the block in which the signal does, most often before them. */
static void *
first_use(void *memory)
{
    uint8_t now[1024];
    struct config c = { .palette = 1 };
    long wrong;
    c.row_bytes[0] = 64;
    c.rows[0] = 16;
    begun = handled + 1;
    __asm__ volatile("mov %%rdi, %%r8\n\tmov $0x400000, %%ecx\n\trep stosb\n\t"
                     ".byte 0xc4, 0xe2, 0x78, 0x49, 0x02\n\t" /* ldtilecfg (%rdx) */
                     "mov %%rsi, %%rax\n\tmov $64, %%ecx\n\t" LOAD(0)
                     "mov %%r8, %%rdi\n\tmov $0x400000, %%ecx\n\trep stosb"
                     : "+D"(memory)
                     : "S"(pattern), "d"(&c), "a"(0), "m"(c)
                     : "rcx", "r8", "memory");
    while (handled < begun)
        ;
    tile_store(0, now, 64);
    wrong = memcmp(now, pattern, sizeof(now)) != 0;
    release();
    return (void *)wrong;
}

static void
first_uses(void)
{
    void *memory = mmap(NULL, 0x400000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long all = 0;
    quiet = 1;
    handled = 0;
    for (int i = 0; i < 40; i++) {
        pthread_t t;
        void *wrong;
        begun = 0;
        pthread_create(&t, NULL, first_use, memory);
        while (!begun)
            ;
        for (volatile int k = 0; k < i * 500; k++)
            ;
        pthread_kill(t, SIGUSR1);
        pthread_join(t, &wrong);
        all += (long)wrong;
    }
    printf("around the first use: %ld wrong, %d handled\n", all, handled);
    quiet = 0;
    munmap(memory, 0x400000);
}

static void
forks(void)
{
    int status;
    own_tiles(5);
    pid_t child = fork();
    if (child == 0) {
        say_tiles("child");
        raise(SIGUSR1);
        own_tiles(6);
        raise(SIGUSR1);
        say_tiles("child with its own");
        fflush(stdout);
        _exit(3);
    }
    waitpid(child, &status, 0);
    say_tiles("parent");
    printf("child %x\n", status);
}

/* Stacks for signals have to be large enough for tiles where these are asked for, and from then on. */
static void
sizes(void)
{
    static char stack[65536];
    static const int tried[] = { 100, 2047, 2048, 3000, 8192, 11951, 11952, 11953, 65536 };
    for (unsigned int i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
        stack_t s = { .ss_sp = stack, .ss_size = (size_t)tried[i] }, was;
        long set = sigaltstack(&s, NULL);
        long asked = set == 0 ? arch_prctl(REQUEST, TILES) : -2;
        long again = sigaltstack(&s, &was);
        printf("%d: %ld, %ld, %ld, %ld, %lx\n", tried[i], set, asked, again, (long)was.ss_size, permitted());
        s = (stack_t){ .ss_flags = SS_DISABLE };
        sigaltstack(&s, NULL);
        if (asked == 0)
            break;
    }
    stack_t small = { .ss_sp = stack, .ss_size = 8192 };
    printf("small afterwards: %d\n", sigaltstack(&small, NULL));
}

int
main(void)
{
    unsigned long supported = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (arch_prctl(GET_SUPPORTED, (unsigned long)&supported) != 0 || !(supported >> TILES & 1))
        return 77;
    printf("supported %lx, permitted %lx, of no use %ld %ld\n", supported, permitted(), arch_prctl(REQUEST, 17),
           arch_prctl(REQUEST, 99));
    on(SIGUSR1, 0);
    on(SIGUSR2, 0);
    raise(SIGUSR1); /* before any use */
    sizes();
    raise(SIGUSR1);
    own_tiles(1);
    raise(SIGUSR1);
    say_tiles("own stack");
    in_handler_too = 2;
    raise(SIGUSR1);
    say_tiles("nested");
    alternate();
    faults();
    on(SIGUSR1, 0);
    from_others();
    first_uses();
    forks();
    release();
    raise(SIGUSR1);
    say_tiles("released");
    return 0;
}
