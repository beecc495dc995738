#include "touches.h"

#include "tiles.h"
#include "xsave.h"

#define DIRECTION_FLAG 0x400
/* Ends of the parts of the area that xsave saves state to: x87's (twice), MXCSR, SSE's registers, and the header. */
#define XSAVE_X87_BEGIN 24
#define XSAVE_MXCSR_END 32
#define XSAVE_X87_END 160
#define XSAVE_SSE_END 416
#define XSAVE_HEADER_END 576
/* x87's is component 0. */
#define XSAVE_SSE 1
#define XSAVE_AVX 2
/* XCOMP_BV: the area has the compacted form. */
#define XSAVE_IS_COMPACTED (1ull << 63)

static uint
strings(const wire_ref_t *r, const uint64 *values, uint64 base, uint64 count, touch_t *out)
{
    bool down = r->extra == REP_DOWN ||
                (r->extra >= REP_BY_FLAGS && (values[r->extra - REP_BY_FLAGS] & DIRECTION_FLAG) != 0);
    uint64 bytes = r->size * count;
    *out = (touch_t){ down ? base - (bytes - r->size) : base, bytes };
    return count > 0;
}

static bool
lane_set(const wire_ref_t *r, const uint64 *values, uint lane)
{
    uint element = r->extra & 0xff;
    if (element == 0)
        return (values[r->aux] >> (lane & 63) & 1) != 0;
    uint top = (lane + 1) * element * 8 - 1;
    return (values[r->aux + top / 64] >> (top % 64) & 1) != 0;
}

static uint
masked(const wire_ref_t *r, const uint64 *values, uint64 base, touch_t *out)
{
    uint n = 0;
    for (uint lane = 0; lane < r->lanes; lane++) {
        if (!lane_set(r, values, lane))
            continue;
        if (lane > 0 && lane_set(r, values, lane - 1))
            out[n - 1].bytes += r->size;
        else
            out[n++] = (touch_t){ base + (uint64)r->size * lane, r->size };
    }
    return n;
}

static uint
indexed(const wire_ref_t *r, const uint64 *values, uint64 base, touch_t *out)
{
    uint n = 0, bytes = r->extra >> 8;
    for (uint lane = 0; lane < r->lanes; lane++) {
        uint bit = lane * bytes * 8;
        uint64 word = values[r->index + bit / 64] >> (bit % 64);
        int64 index = bytes == 4 ? (int)word : (int64)word;
        if (lane_set(r, values, lane))
            out[n++] = (touch_t){ base + (uint64)(index * r->scale), r->size };
    }
    return n;
}

static uint
packed(const wire_ref_t *r, const uint64 *values, uint64 base, touch_t *out)
{
    uint64 keep = r->lanes >= 64 ? ~0ull : (1ull << r->lanes) - 1;
    uint set = (uint)__builtin_popcountll(values[r->aux] & keep);
    *out = (touch_t){ base, (uint64)r->size * set };
    return set > 0;
}

/* One more stretch of the area; with the last one, if there is nothing between them. */
static uint
stretch(touch_t *out, uint n, uint64 base, uint64 from, uint64 to)
{
    if (n > 0 && out[n - 1].address + out[n - 1].bytes == base + from)
        out[n - 1].bytes += to - from;
    else
        out[n++] = (touch_t){ base + from, to - from };
    return n;
}

static uint
saved(const wire_ref_t *r, const uint64 *values, uint64 base, touch_t *out)
{
    const xsave_layout_t *layout = xsave_layout();
    bool told = r->index != NO_SLOT, restored = r->extra == XSAVE_RESTORED;
    uint64 asked = values[r->aux], compacted = told ? values[r->index + 1] : 0;
    uint64 touched = told ? asked & values[r->index] : asked;
    uint64 present = r->extra == XSAVE_COMPACTED ? asked : restored ? compacted : 0;
    bool in_order = r->extra == XSAVE_COMPACTED || (restored && (compacted & XSAVE_IS_COMPACTED) != 0);
    uint64 mxcsr = in_order ? touched & 1u << XSAVE_SSE : asked & (1u << XSAVE_SSE | 1u << XSAVE_AVX);
    uint n = 0;
    if (touched & 1)
        n = stretch(out, n, base, 0, XSAVE_X87_BEGIN);
    if (mxcsr != 0)
        n = stretch(out, n, base, XSAVE_X87_BEGIN, XSAVE_MXCSR_END);
    if (touched & 1)
        n = stretch(out, n, base, XSAVE_MXCSR_END, XSAVE_X87_END);
    if (touched >> XSAVE_SSE & 1)
        n = stretch(out, n, base, XSAVE_X87_END, XSAVE_SSE_END);
    uint64 header = restored ? XSAVE_HEADER_END : XSAVE_HEADER + (in_order ? 16 : 8);
    n = stretch(out, n, base, XSAVE_HEADER, header);
    uint64 at = XSAVE_HEADER_END;
    for (uint i = 2; i < 63; i++) {
        uint64 size = layout->component[i][1] & ~XSAVE_ALIGNED;
        if (size == 0)
            continue;
        if (!in_order)
            at = layout->component[i][0];
        else if ((present >> i & 1) == 0)
            continue;
        else if (layout->component[i][1] & XSAVE_ALIGNED)
            at = (at + 63) & ~63ull;
        if (touched >> i & 1)
            n = stretch(out, n, base, at, at + size);
        at += size;
    }
    return n;
}

uint
touches_of(const wire_ref_t *r, const uint64 *values, touch_t *out)
{
    uint64 base = (r->slot == NO_SLOT ? 0 : values[r->slot]) + r->disp;
    switch (r->mode) {
    case MODE_REP: return strings(r, values, base, values[r->aux], out);
    case MODE_MASKED: return masked(r, values, base, out);
    case MODE_INDEXED: return indexed(r, values, base, out);
    case MODE_PACKED: return packed(r, values, base, out);
    case MODE_XSAVE: return saved(r, values, base, out);
    case MODE_TILE: return tiles_touched(r, values, base, out);
    case MODE_BIT: {
        uint bits = r->size * 8 < 8 ? 8 : r->size * 8 > 64 ? 64 : r->size * 8;
        int64 number = (int64)(values[r->aux] << (64 - bits)) >> (64 - bits);
        int64 operands = (number - (int64)((uint64)number % bits)) / (int64)bits;
        *out = (touch_t){ base + (uint64)(operands * (int64)r->size), r->size };
        return 1;
    }
    default: *out = (touch_t){ base, r->size }; return r->size > 0;
    }
}
