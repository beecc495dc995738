#include "touches.h"

#include "tiles.h"
#include "xsave.h"

#define DIRECTION_FLAG 0x400
/* Legacy region and header of xsave, which every form has. */
#define XSAVE_HEADER_END 576

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

static uint64
xsave_bytes(uint64 features, bool compacted)
{
    const xsave_layout_t *layout = xsave_layout();
    uint64 end = XSAVE_HEADER_END;
    for (uint i = 2; i < 64; i++) {
        uint offset = layout->component[i][0], size = layout->component[i][1];
        if ((features >> i & 1) == 0 || size == 0)
            continue;
        if (compacted)
            end += size;
        else if (offset + size > end)
            end = offset + size;
    }
    return end;
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
    case MODE_XSAVE:
        *out = (touch_t){ base, xsave_bytes(values[r->aux], r->extra != 0) };
        return 1;
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
