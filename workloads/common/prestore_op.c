#include "prestore_op.h"

#include "attributes.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

const char *const PRESTORE_OPS[] = { "none", "clean", "demote", "skip", NULL };

#if defined(__x86_64__)

enum clean_instruction { CLEAN_UNKNOWN, CLEAN_CLFLUSH, CLEAN_CLFLUSHOPT, CLEAN_CLWB };

static enum clean_instruction best_clean(void)
{
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
        return CLEAN_CLFLUSH;
    if (ebx & (1u << 24))
        return CLEAN_CLWB;
    return ebx & (1u << 23) ? CLEAN_CLFLUSHOPT : CLEAN_CLFLUSH;
}

static void clean_line(const char *line)
{
    static enum clean_instruction instruction;
    enum clean_instruction known = __atomic_load_n(&instruction, __ATOMIC_RELAXED);

    if (known == CLEAN_UNKNOWN) {
        known = best_clean();
        __atomic_store_n(&instruction, known, __ATOMIC_RELAXED);
    }
    switch (known) {
    case CLEAN_CLWB:
        __asm__ __volatile__("clwb (%0)" : : "r"(line) : "memory");
        break;
    case CLEAN_CLFLUSHOPT:
        __asm__ __volatile__("clflushopt (%0)" : : "r"(line) : "memory");
        break;
    default:
        __asm__ __volatile__("clflush (%0)" : : "r"(line) : "memory");
    }
}

static void demote_line(const char *line)
{
    __asm__ __volatile__("cldemote (%0)" : : "r"(line) : "memory");
}

#elif defined(__aarch64__)

static void clean_line(const char *line)
{
    __asm__ __volatile__("dc cvac, %0" : : "r"(line) : "memory");
}

static void demote_line(const char *line)
{
    __asm__ __volatile__("dc cvau, %0" : : "r"(line) : "memory");
}

#else

static void clean_line(const char *line)
{
    (void)line;
}

static void demote_line(const char *line)
{
    (void)line;
}

#endif

void prestore_range(const void *start, size_t bytes, enum prestore_op op)
{
    const char *end = (const char *)start + bytes;
    const char *line = (const char *)((uintptr_t)start & ~(uintptr_t)(CACHE_LINE_SIZE - 1));

    if (op == OP_CLEAN) {
        for (; line < end; line += CACHE_LINE_SIZE)
            clean_line(line);
    } else if (op == OP_DEMOTE) {
        for (; line < end; line += CACHE_LINE_SIZE)
            demote_line(line);
    }
}

void prestore_copy_skip(void *to, const void *from, size_t bytes)
{
    uint64_t *target = to;
    const uint64_t *source = from;

    for (size_t i = 0; i < bytes / sizeof *target; i++)
        prestore_store_skip(&target[i], source[i]);
}
