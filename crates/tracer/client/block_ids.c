#include "block_ids.h"

#include <string.h>

#include "session.h"
#include "hashtable.h"

static hashtable_t ids; /* hash of a description -> id */
static uint next_id = REC_FIRST_BLOCK;

void
block_ids_init(void)
{
    /* It grows: room for many would be cleared by each process that begins. */
    hashtable_init_ex(&ids, 10, HASH_INTPTR, false, false, NULL, NULL, NULL);
}

void
block_ids_exit(void)
{
    hashtable_delete(&ids);
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
    hashtable_lock(&ids);
    uint id = (uint)(ptr_uint_t)hashtable_lookup(&ids, (void *)hash);
    if (id == 0) {
        id = next_id++;
        hashtable_add(&ids, (void *)hash, (void *)(ptr_uint_t)id);
        describe(drcontext, id, head, refs, code);
    }
    hashtable_unlock(&ids);
    return id;
}
