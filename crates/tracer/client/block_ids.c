#include "block_ids.h"

#include <string.h>

#include "session.h"

/* Hashes of descriptions and the ids of those: the place of a hash is the first free one from where it belongs on. */
static struct {
    uint64 *hashes; /* 0: free */
    uint *ids;
    uint places; /* a power of two */
    uint used;
} known;
static void *lock;
static uint next_id = REC_FIRST_BLOCK;

/* It grows: room for many would be cleared by each process that begins. */
#define FIRST_PLACES 1024

static void
known_alloc(uint places)
{
    known.places = places;
    known.used = 0;
    known.hashes = dr_global_alloc(places * sizeof(*known.hashes));
    known.ids = dr_global_alloc(places * sizeof(*known.ids));
    memset(known.hashes, 0, places * sizeof(*known.hashes));
}

static void
known_free(uint64 *hashes, uint *ids, uint places)
{
    dr_global_free(hashes, places * sizeof(*hashes));
    dr_global_free(ids, places * sizeof(*ids));
}

/* Where `hash` is, or would be. */
static uint
known_place(uint64 hash)
{
    uint at = (uint)hash & (known.places - 1);
    while (known.hashes[at] != 0 && known.hashes[at] != hash)
        at = (at + 1) & (known.places - 1);
    return at;
}

static void
known_add(uint64 hash, uint id)
{
    uint at = known_place(hash);
    known.hashes[at] = hash;
    known.ids[at] = id;
    known.used++;
}

static void
known_grow(void)
{
    uint64 *hashes = known.hashes;
    uint *ids = known.ids, places = known.places;
    known_alloc(2 * places);
    for (uint i = 0; i < places; i++) {
        if (hashes[i] != 0)
            known_add(hashes[i], ids[i]);
    }
    known_free(hashes, ids, places);
}

void
block_ids_init(void)
{
    lock = dr_mutex_create();
    known_alloc(FIRST_PLACES);
}

void
block_ids_exit(void)
{
    known_free(known.hashes, known.ids, known.places);
    dr_mutex_destroy(lock);
}

uint
block_ids_next(void)
{
    return next_id;
}

/* Word by word: the halves of the product carry each bit everywhere. */
static uint64
hash_bytes(uint64 hash, const void *bytes, size_t n)
{
    const byte *p = bytes;
    while (n > 0) {
        uint64 word = 0;
        size_t some = n < sizeof(word) ? n : sizeof(word);
        memcpy(&word, p, some);
        __uint128_t product =
            (__uint128_t)(hash ^ word ^ 0x9e3779b97f4a7c15ull) * 0xd6e8feb86659fd93ull;
        hash = (uint64)product ^ (uint64)(product >> 64);
        p += some;
        n -= some;
    }
    return hash;
}

static void
describe(void *drcontext, uint id, const wire_block_t *head, const wire_ref_t *refs,
         const code_t *code)
{
    size_t ref_bytes = head->refs * sizeof(*refs);
    size_t payload = sizeof(*head) + ref_bytes + ((head->instrs + code->bytes + 7) & ~7u);
    byte *frame = dr_thread_alloc(drcontext, 8 + payload);
    memset(frame, 0, 8 + payload);
    ((uint32_t *)frame)[0] = META_BLOCK;
    ((uint32_t *)frame)[1] = (uint32_t)payload;
    byte *at = frame + 8;
    memcpy(at, head, sizeof(*head));
    ((wire_block_t *)at)->id = id;
    at += sizeof(*head);
    memcpy(at, refs, ref_bytes);
    at += ref_bytes;
    memcpy(at, code->lengths, head->instrs);
    memcpy(at + head->instrs, code->code, code->bytes);
    session_meta(frame, 8 + payload);
    dr_thread_free(drcontext, frame, 8 + payload);
}

uint
block_id(void *drcontext, const wire_block_t *head, const wire_ref_t *refs, const code_t *code)
{
    uint64 hash = hash_bytes(0xcbf29ce484222325ull, head, sizeof(*head));
    hash = hash_bytes(hash, refs, head->refs * sizeof(*refs));
    hash = hash_bytes(hash, code->lengths, head->instrs);
    hash = hash_bytes(hash, code->code, code->bytes);
    hash += hash == 0;
    dr_mutex_lock(lock);
    uint at = known_place(hash), id = known.hashes[at] == 0 ? 0 : known.ids[at];
    if (id == 0) {
        id = next_id++;
        if (2 * (known.used + 1) > known.places)
            known_grow();
        known_add(hash, id);
        describe(drcontext, id, head, refs, code);
    }
    dr_mutex_unlock(lock);
    return id;
}
