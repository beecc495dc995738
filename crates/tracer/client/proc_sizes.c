#define _GNU_SOURCE
#include "proc_sizes.h"

#include <stdlib.h>
#include <string.h>

#include "proc_maps.h"

/* The kernel counts the recorder's memory as the program's. A program that ends itself, or frees what it
 * keeps, when it has become too large is to decide as it would alone. The mappings that are its own, with
 * what of them is resident, are in smaps. */

#define KB 1024
#define PAGE_KB 4
#define ROLLUP_COLUMNS 28 /* of a line, with its end */

typedef struct {
    uint64 size, resident, anonymous, shared_memory, data, stack; /* KB */
} sizes_t;

typedef struct {
    uint64 kept; /* of the mapping that the fields are about: the rest is the recorder's */
    bool described, shared_memory;
} mapping_t;

static size_t
line_length(const text_t *text, size_t at)
{
    const char *newline = memchr(text->at + at, '\n', text->length - at);
    return newline == NULL ? text->length - at : (size_t)(newline + 1 - (text->at + at));
}

static bool
begins(const char *line, size_t length, const char *with)
{
    return length >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

/* Is it named so? The name is the end of the line. */
static bool
has_name(const char *line, size_t length, const char *name)
{
    return memmem(line, length, name, strlen(name)) != NULL;
}

static bool
is_shared_memory(const char *line, size_t length)
{
    static const char *const names[] = { " /memfd:", " /dev/zero", " /dev/shm/", " /SYSV" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (has_name(line, length, names[i]))
            return true;
    }
    return false;
}

/* A line "BEGIN-END RIGHTS ..."; false: it is a field. */
static bool
add_range(const char *line, size_t length, mapping_t *mapping, sizes_t *sizes)
{
    char *behind, *rights;
    uint64 begin = strtoull(line, &behind, 16);
    if (behind == line || *behind != '-')
        return false;
    uint64 kb = (strtoull(behind + 1, &rights, 16) - begin) / KB;
    if (mapping->described)
        *mapping = (mapping_t){ 0 };
    if (has_name(line, length, "[vsyscall]"))
        return true; /* the kernel's, and no process's */
    mapping->kept += kb;
    mapping->shared_memory = is_shared_memory(line, length);
    sizes->size += kb;
    if (has_name(line, length, "[stack]"))
        sizes->stack += kb;
    else if (rights[2] == 'w' && rights[4] == 'p')
        sizes->data += kb;
    return true;
}

/* A field's value, of the part that is the program's. */
static uint64
kept_of(const char *value, const mapping_t *mapping)
{
    uint64 kb = strtoull(value, NULL, 10);
    return kb < mapping->kept ? kb : mapping->kept;
}

/* smaps without what is the recorder's; nothing if it cannot be read. */
static text_t
own_mappings(void)
{
    text_t all = text_of_file("/proc/self/smaps"), own = { 0 };
    proc_maps_filter(all.at, all.length, true, &own);
    text_free(&all);
    if (own.length > 0)
        text_add(&own, "", 1);
    return own;
}

/* `field`, NULL for none, is summed up over all mappings. */
static uint64
add_up(const text_t *own, const char *field, size_t field_length, sizes_t *sizes)
{
    mapping_t mapping = { 0 };
    uint64 sum = 0;
    for (size_t at = 0; at + 1 < own->length;) {
        const char *line = own->at + at;
        size_t length = line_length(own, at);
        at += length;
        if (add_range(line, length, &mapping, sizes))
            continue;
        mapping.described = true;
        if (begins(line, length, "Rss:")) {
            uint64 kb = kept_of(line + strlen("Rss:"), &mapping);
            sizes->resident += kb;
            sizes->shared_memory += mapping.shared_memory ? kb : 0;
        } else if (begins(line, length, "Anonymous:")) {
            uint64 kb = kept_of(line + strlen("Anonymous:"), &mapping);
            sizes->anonymous += kb;
            sizes->shared_memory -= mapping.shared_memory ? kb : 0;
        }
        if (field != NULL && length > field_length && memcmp(line, field, field_length) == 0)
            sum += kept_of(line + field_length, &mapping);
    }
    return sum;
}

static bool
measure(sizes_t *sizes)
{
    text_t own = own_mappings();
    *sizes = (sizes_t){ 0 };
    add_up(&own, NULL, 0, sizes);
    text_free(&own);
    return sizes->size > 0;
}

static uint64
file_backed(const sizes_t *sizes)
{
    uint64 others = sizes->anonymous + sizes->shared_memory;
    return sizes->resident > others ? sizes->resident - others : 0;
}

/* The value behind `name` in status. */
static uint64
value_of(const text_t *status, const char *name)
{
    for (size_t at = 0; at < status->length; at += line_length(status, at)) {
        if (begins(status->at + at, status->length - at, name))
            return strtoull(status->at + at + strlen(name), NULL, 10);
    }
    return 0;
}

static uint64
without(uint64 all, uint64 other)
{
    return all > other ? all - other : 0;
}

void
proc_sizes_status(const text_t *from, text_t *to)
{
    sizes_t own;
    if (!measure(&own)) {
        text_add(to, from->at, from->length);
        return;
    }
    /* The most that there has been is taken to have had as much of the recorder's in it as there is now. */
    uint64 other = without(value_of(from, "VmSize:"), own.size);
    uint64 other_resident = without(value_of(from, "VmRSS:"), own.resident);
    const struct {
        const char *name;
        uint64 kb;
    } lines[] = {
        { "VmPeak:", without(value_of(from, "VmPeak:"), other) },
        { "VmSize:", own.size },
        { "VmHWM:", without(value_of(from, "VmHWM:"), other_resident) },
        { "VmRSS:", own.resident },
        { "RssAnon:", own.anonymous },
        { "RssFile:", file_backed(&own) },
        { "RssShmem:", own.shared_memory },
        { "VmData:", own.data },
    };
    enum { LINES = sizeof(lines) / sizeof(lines[0]) };
    for (size_t at = 0; at < from->length;) {
        char written[64];
        size_t length = line_length(from, at), i = 0;
        while (i < LINES && !begins(from->at + at, length, lines[i].name))
            i++;
        if (i == LINES) {
            text_add(to, from->at + at, length);
        } else {
            int n = dr_snprintf(written, sizeof(written), "%s\t%8llu kB\n", lines[i].name,
                                (unsigned long long)lines[i].kb);
            text_add(to, written, (size_t)n);
        }
        at += length;
    }
}

/* Fields are counted from one, and the second, the name, may have spaces in it. */
enum { NAME = 2, SIZE = 23, RESIDENT = 24 };

void
proc_sizes_stat(const text_t *from, text_t *to)
{
    sizes_t own;
    char written[48];
    const char *end = from->at + from->length;
    const char *at = memrchr(from->at, ')', from->length);
    for (int field = NAME; at != NULL && field < SIZE; field++)
        at = memchr(at + 1, ' ', (size_t)(end - at - 1));
    const char *second = at == NULL ? NULL : memchr(at + 1, ' ', (size_t)(end - at - 1));
    const char *behind = second == NULL ? NULL : memchr(second + 1, ' ', (size_t)(end - second - 1));
    if (behind == NULL || !measure(&own)) {
        text_add(to, from->at, from->length);
        return;
    }
    text_add(to, from->at, (size_t)(at - from->at));
    int n = dr_snprintf(written, sizeof(written), " %llu %llu", (unsigned long long)own.size * KB,
                        (unsigned long long)own.resident / PAGE_KB);
    text_add(to, written, (size_t)n);
    text_add(to, behind, (size_t)(end - behind));
}

void
proc_sizes_statm(const text_t *from, text_t *to)
{
    sizes_t own;
    char code[24], written[160];
    const char *at = from->at, *end = from->at + from->length;
    /* Size, resident, shared; the code's is left as it is. */
    for (int field = 0; at != NULL && field < 3; field++) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        at = space == NULL ? NULL : space + 1;
    }
    if (at == NULL || !measure(&own)) {
        text_add(to, from->at, from->length);
        return;
    }
    const char *behind = memchr(at, ' ', (size_t)(end - at));
    dr_snprintf(code, sizeof(code), "%.*s", behind == NULL ? 0 : (int)(behind - at), at);
    code[sizeof(code) - 1] = '\0';
    int n = dr_snprintf(written, sizeof(written), "%llu %llu %llu %s 0 %llu 0\n",
                        (unsigned long long)own.size / PAGE_KB,
                        (unsigned long long)own.resident / PAGE_KB,
                        (unsigned long long)(own.resident - own.anonymous) / PAGE_KB, code,
                        (unsigned long long)(own.data + own.stack) / PAGE_KB);
    text_add(to, written, (size_t)n);
}

void
proc_sizes_rollup(const text_t *from, text_t *to)
{
    text_t own = own_mappings();
    for (size_t at = 0; at < from->length;) {
        char written[64];
        sizes_t unused = { 0 };
        const char *line = from->at + at;
        size_t length = line_length(from, at);
        const char *colon = memchr(line, ':', length);
        if (at == 0 || colon == NULL || own.length == 0) { /* at first the range */
            text_add(to, line, length);
        } else {
            size_t name = (size_t)(colon + 1 - line);
            int n = dr_snprintf(written, sizeof(written), "%llu kB\n",
                                (unsigned long long)add_up(&own, line, name, &unused));
            text_add(to, line, name);
            for (size_t column = name + (size_t)n; column < ROLLUP_COLUMNS; column++)
                text_add(to, " ", 1);
            text_add(to, written, (size_t)n);
        }
        at += length;
    }
    text_free(&own);
}
