#include "proc_maps.h"

#include <stdlib.h>
#include <string.h>

#include "options.h"

#define PAGE 4096ULL
#define PATH_COLUMN 73

static uint64 heap_begin, heap_end;
static char engine_dir[MAXIMUM_PATH];

typedef struct {
    uint64 begin, end;
    const char *rest; /* permissions, offset, device, inode */
    size_t rest_length;
    const char *path;
    size_t path_length;
} line_t;

void
proc_maps_brk(uint64 end)
{
    if (heap_begin == 0)
        heap_begin = end;
    heap_end = (end + PAGE - 1) & ~(PAGE - 1);
}

void
proc_maps_init(const char *engine_file)
{
    const char *slash = strrchr(engine_file, '/');
    if (slash != NULL)
        dr_snprintf(engine_dir, sizeof(engine_dir) - 1, "%.*s", (int)(slash - engine_file),
                    engine_file);
}

/* "BEGIN-END PERMS OFFSET DEVICE INODE [PATH]"; false: it is about the line before. */
static bool
parse(const char *text, size_t length, line_t *line)
{
    char *behind;
    const char *at, *end = text + length;
    line->begin = strtoull(text, &behind, 16);
    if (behind == text || *behind != '-')
        return false;
    line->end = strtoull(behind + 1, &behind, 16);
    line->rest = at = behind;
    for (int field = 0; field < 4 && at < end; field++) {
        for (at++; at < end && *at != ' '; at++)
            ;
    }
    line->rest_length = (size_t)(at - line->rest);
    while (at < end && *at == ' ')
        at++;
    line->path = at;
    line->path_length = (size_t)(end - at);
    return true;
}

static bool
below(const line_t *line, const char *dir)
{
    size_t length = strlen(dir);
    return length > 0 && line->path_length > length &&
        memcmp(line->path, dir, length) == 0 && line->path[length] == '/';
}

/* Whether a page is the engine's, and a page behind it, at most `end`, up to which all are as it is. */
static bool
is_engines(uint64 page, uint64 end, uint64 *until)
{
    byte *behind;
    bool engines = dr_memory_is_ours_until((byte *)page, &behind);
    *until = (uint64)behind >= end ? end : ((uint64)behind + PAGE - 1) & ~(PAGE - 1);
    return engines;
}

/* Where what is at `begin` ends, be it the engine's or the program's, data or heap. The kernel joins
 * mappings that are alike, whoever made them. */
static uint64
end_of_owner(uint64 begin, uint64 end, bool *engines)
{
    uint64 at, until;
    if (begin < heap_begin && heap_begin < end)
        end = heap_begin;
    else if (begin < heap_end && heap_end < end)
        end = heap_end;
    *engines = is_engines(begin, end, &at);
    while (at < end && is_engines(at, end, &until) == *engines)
        at = until;
    return at;
}

/* The engine keeps the program's heap, so that the kernel has no name for it. */
static bool
is_heap(const line_t *line, uint64 begin, uint64 end)
{
    return line->path_length == 0 && begin >= heap_begin && end <= heap_end;
}

static bool
is_file(const line_t *line)
{
    return line->path_length > 0 && line->path[0] == '/';
}

/* One of the engine's files, or of a recording's. */
static bool
is_engines_file(const line_t *line)
{
    return below(line, engine_dir) || below(line, options.dir);
}

static void
add_line(text_t *out, const line_t *line, uint64 begin, uint64 end, bool own)
{
    char head[64];
    bool heap = own && is_heap(line, begin, end);
    size_t begun = out->length;
    int n = dr_snprintf(head, sizeof(head), "%08llx-%08llx", (unsigned long long)begin,
                        (unsigned long long)end);
    text_add(out, head, (size_t)n);
    text_add(out, line->rest, line->rest_length);
    text_add(out, " ", 1);
    if (heap || line->path_length > 0) {
        while (out->length - begun < PATH_COLUMN)
            text_add(out, " ", 1);
        text_add(out, heap ? "[heap]" : line->path, heap ? strlen("[heap]") : line->path_length);
    }
    text_add(out, "\n", 1);
}

/* Adds what of the line is the program's; false: nothing. Of another process only files tell. */
static bool
filter(const line_t *line, bool own, text_t *out)
{
    bool any = false, file = is_file(line);
    if (file && is_engines_file(line))
        return false;
    if (file || !own) {
        uint64 until;
        if (own && is_engines(line->begin, line->end, &until))
            return false;
        add_line(out, line, line->begin, line->end, own);
        return true;
    }
    for (uint64 at = line->begin; at < line->end;) {
        bool engines;
        uint64 end = end_of_owner(at, line->end, &engines);
        if (!engines) {
            add_line(out, line, at, end, own);
            any = true;
        }
        at = end;
    }
    return any;
}

bool
proc_maps_part(const char *path, uint64 from, uint64 *begin, uint64 *end, bool *heap)
{
    line_t line = { .begin = *begin, .end = *end, .path = path, .path_length = strlen(path) };
    bool engines;
    *heap = false;
    if (is_file(&line)) {
        uint64 until;
        return !is_engines_file(&line) && !is_engines(line.begin, line.end, &until);
    }
    for (uint64 at = line.begin; at < line.end; at = *end) {
        *begin = at;
        *end = end_of_owner(at, line.end, &engines);
        if (!engines && *end > from) {
            *heap = is_heap(&line, *begin, *end);
            return true;
        }
    }
    return false;
}

bool
proc_maps_is_engine(const char *path)
{
    size_t length = strlen(engine_dir);
    return length > 0 && strncmp(path, engine_dir, length) == 0 && path[length] == '/';
}

void
proc_maps_filter(const char *text, size_t length, bool own, text_t *out)
{
    bool keep = true;
    const char *end = text + length;
    while (text < end) {
        line_t line;
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t bytes = newline == NULL ? (size_t)(end - text) : (size_t)(newline - text);
        if (parse(text, bytes, &line))
            keep = filter(&line, own, out);
        else if (keep)
            text_add(out, text, bytes + (newline != NULL));
        text += bytes + 1;
    }
}

void
proc_maps_each_writable(void (*each)(uint64 begin, uint64 end, bool file, void *of), void *of)
{
    text_t all = text_of_file("/proc/self/maps"), own = { 0 };
    proc_maps_filter(all.at, all.length, true, &own);
    text_add(&own, "", 1);
    for (const char *at = own.at; *at != '\0'; at = strchr(at, '\n') + 1) {
        line_t line;
        size_t bytes = strcspn(at, "\n");
        if (parse(at, bytes, &line) && line.rest_length > 2 && line.rest[2] == 'w')
            each(line.begin, line.end, is_file(&line), of);
        if (at[bytes] == '\0')
            break;
    }
    text_free(&all);
    text_free(&own);
}

bool
proc_maps_each_part(uint64 begin, uint64 end, void (*each)(uint64 begin, uint64 end, bool file, void *of), void *of)
{
    text_t all = text_of_file("/proc/self/maps");
    for (size_t at = 0; at < all.length;) {
        line_t line;
        const char *text = all.at + at, *newline = memchr(text, '\n', all.length - at);
        size_t bytes = newline == NULL ? all.length - at : (size_t)(newline - text);
        if (newline != NULL && parse(text, bytes, &line) && line.begin < end && begin < line.end)
            each(line.begin < begin ? begin : line.begin, line.end < end ? line.end : end,
                 is_file(&line), of);
        at += bytes + 1;
    }
    bool any = all.length > 0;
    text_free(&all);
    return any;
}
