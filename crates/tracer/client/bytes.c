#include "bytes.h"

#include <string.h>

#include "thread.h"
#include "userfault.h"
#include "window.h"

/* A page at most in one record, which the room behind a buffer's limit has to take. */
#define CHUNK 4096
#define HEAD 3

typedef struct {
    uint64 head[HEAD];
    byte data[CHUNK];
} record_t;

/* Zeros that wait to become one record with those behind them. */
typedef struct {
    void *drcontext;
    enum bytes_what what;
    uint64 begin, bytes;
} zeros_t;

static void
flush_zeros(zeros_t *z)
{
    uint64 payload[HEAD] = { z->begin, z->bytes, z->what };
    if (z->bytes > 0)
        thread_special(z->drcontext, REC_BYTES, HEAD, payload);
    z->bytes = 0;
}

static bool
all_zero(const byte *data, size_t n)
{
    return n == 0 || (data[0] == 0 && memcmp(data, data + 1, n - 1) == 0);
}

static void
chunk(zeros_t *z, record_t *r, uint64 address, size_t n)
{
    if (all_zero(r->data, n)) {
        if (z->begin + z->bytes != address)
            flush_zeros(z);
        if (z->bytes == 0)
            z->begin = address;
        z->bytes += n;
        return;
    }
    flush_zeros(z);
    r->head[0] = address;
    r->head[1] = n;
    r->head[2] = z->what;
    memset(r->data + n, 0, (8 - n % 8) % 8);
    thread_special(z->drcontext, REC_BYTES, HEAD + (uint)(n + 7) / 8, (const uint64 *)r);
}

/* Up to the end of the page that `address` is in. */
static size_t
up_to_page(uint64 address, uint64 bytes)
{
    uint64 in_page = CHUNK - address % CHUNK;
    return (size_t)(bytes < in_page ? bytes : in_page);
}

void
bytes_now(void *drcontext, enum bytes_what what, uint64 address, uint64 bytes)
{
    zeros_t z = { drcontext, what, address, 0 };
    record_t r;
    if (!window_records(drcontext))
        return;
    while (bytes > 0) {
        size_t n = up_to_page(address, bytes), got = 0;
        if (userfault_may_wait(address, n)) {
            flush_zeros(&z);
            bytes_range(drcontext, BYTES_UNKNOWN, address, n);
        } else if (dr_safe_read((const void *)address, n, r.data, &got) && got == n) {
            chunk(&z, &r, address, n);
        }
        address += n;
        bytes -= n;
    }
    flush_zeros(&z);
}

void
bytes_are(void *drcontext, enum bytes_what what, uint64 address, const void *data, uint64 bytes)
{
    zeros_t z = { drcontext, what, address, 0 };
    record_t r;
    const byte *from = data;
    if (!window_records(drcontext))
        return;
    while (bytes > 0) {
        size_t n = up_to_page(address, bytes);
        memcpy(r.data, from, n);
        chunk(&z, &r, address, n);
        address += n;
        from += n;
        bytes -= n;
    }
    flush_zeros(&z);
}

void
bytes_range(void *drcontext, enum bytes_what what, uint64 address, uint64 bytes)
{
    uint64 payload[HEAD] = { address, bytes, what };
    thread_special(drcontext, REC_BYTES, HEAD, payload);
}

void
bytes_moved(void *drcontext, uint64 from, uint64 to, uint64 bytes)
{
    uint64 payload[HEAD + 1] = { to, bytes, BYTES_MOVED, from };
    thread_special(drcontext, REC_BYTES, HEAD + 1, payload);
}
