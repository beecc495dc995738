/* Values: made up for a put, read in whole by a get. */
#ifndef KV_VALUE_H
#define KV_VALUE_H

#include <stddef.h>
#include <stdint.h>

/* Writes the whole value, front to back; its words differ by key and version. Sizes are multiples of 64 bytes. */
void craft_value(uint64_t *value, size_t size, uint64_t key, uint64_t version);

/* The same with non-temporal stores, ordered before what follows. */
void craft_value_skip(uint64_t *value, size_t size, uint64_t key, uint64_t version);

/* Reads the whole value. */
uint64_t read_value(const uint64_t *value, size_t size);

#endif
