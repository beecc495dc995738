// Allocates in every way and writes to the file of its argument what it did:
// "range START END" of the code that allocates, "alloc KIND ADDRESS BYTES", "free ADDRESS".
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <sys/mman.h>
#include <thread>

// Calls that are logged come from this section only. What the end of a catch gives back is as if
// called from the function with the catch, which is therefore elsewhere.
#define LOGGED __attribute__((noinline, section("logged")))
extern "C" char __start_logged, __stop_logged;

struct Log {
    void alloc(const char *kind, volatile void *p, size_t n) { add("alloc %s %p %zu\n", kind, p, n); }
    void free(volatile void *p) { add("free %p\n", p); }
    template <typename... T> void add(const char *form, T... values)
    {
        used += snprintf(buffer + used, sizeof(buffer) - used, form, values...);
    }
    size_t used = 0;
    char buffer[60000];
};

static Log logs[2];

LOGGED static void in_c(Log &log)
{
    char *volatile p = (char *)malloc(100);
    log.alloc("Malloc", p, 100);
    log.free(p);
    p = (char *)realloc(p, 5000);
    log.alloc("Malloc", p, 5000);
    char *volatile c = (char *)calloc(10, 33);
    log.alloc("Malloc", c, 330);
    log.free(c);
    c = (char *)reallocarray(c, 20, 40);
    log.alloc("Malloc", c, 800);
    log.free(c);
    free(c);
    void *volatile a = nullptr;
    void *aligned = nullptr;
    if (posix_memalign(&aligned, 64, 777) == 0)
        log.alloc("Malloc", aligned, 777);
    log.free(aligned);
    free(aligned);
    a = aligned_alloc(64, 640);
    log.alloc("Malloc", a, 640);
    log.free(a);
    free(a);
    a = memalign(32, 96);
    log.alloc("Malloc", a, 96);
    log.free(a);
    free(a);
    a = malloc((size_t)1 << 62); // fails: nothing was allocated
    free(a);
    log.free(p);
    free(p);
}

LOGGED static void *too_much()
{
    return ::operator new((size_t)1 << 62);
}

LOGGED static void in_cpp(Log &log)
{
    char *volatile p = (char *)::operator new(48);
    log.alloc("New", p, 48);
    log.free(p);
    ::operator delete(p);
    p = (char *)::operator new[](480, std::align_val_t(64));
    log.alloc("New", p, 480);
    log.free(p);
    ::operator delete[](p, std::align_val_t(64));
}

// The call that was left by an exception is over.
LOGGED static void in_cpp_again(Log &log)
{
    char *volatile p = (char *)::operator new(56, std::nothrow);
    log.alloc("New", p, 56);
    log.free(p);
    ::operator delete(p);
}

__attribute__((noinline)) static void with_exception(Log &log)
{
    try {
        log.alloc("New", too_much(), 0);
    } catch (const std::bad_alloc &) {
        in_cpp_again(log);
    }
}

static void all(Log *log)
{
    for (int i = 0; i < 20; i++) {
        in_c(*log);
        in_cpp(*log);
        with_exception(*log);
    }
}

int main(int argc, char **argv)
{
    std::thread other(all, &logs[1]);
    all(&logs[0]);
    other.join();
    void *map = mmap(nullptr, 12345, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *out = argc > 1 ? fopen(argv[1], "w") : nullptr;
    if (out == nullptr)
        return 1;
    munmap(map, 12345);
    fprintf(out, "range %p %p\n%s%s", (void *)&__start_logged, (void *)&__stop_logged, logs[0].buffer,
            logs[1].buffer);
    fprintf(out, "map %p 12345\n", map);
    return fclose(out);
}
