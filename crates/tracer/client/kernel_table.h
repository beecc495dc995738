/* Which memory of the caller a system call writes. */
#ifndef PRESTORE_KERNEL_TABLE_H
#define PRESTORE_KERNEL_TABLE_H

#include "dr_api.h"

typedef enum {
    OUT_NONE,
    OUT_BYTES,  /* `by` bytes */
    OUT_RESULT, /* as many as it returns, times `by` */
    OUT_ARG,    /* as many as argument `by` says */
    OUT_ELEMENTS, /* `by` >> 8 bytes for each of the count in argument `by` & 0xff */
    OUT_LENGTH, /* as many as the 32-bit length at argument `by` says, and that length */
    OUT_VECTOR, /* the vectors of which argument `by` says how many, as many bytes as it returns */
    OUT_MESSAGE, /* a message header: name, control data, and vectors as above */
    OUT_MESSAGES, /* as many of them as it returns, with their lengths */
    OUT_FDS,    /* a set of as many descriptors as argument `by` says */
    OUT_PAGES,  /* a byte for each page of the length in argument `by` */
} out_how_t;

#define MAX_OUTS 4

typedef struct {
    byte how; /* out_how_t */
    byte arg;
    ushort by;
} out_t;

typedef struct {
    short number;
    bool on_error; /* it may have written although it failed */
    out_t out[MAX_OUTS];
} outs_t;

/* NULL: it is not known what the call writes. */
const outs_t *kernel_outs(int number);

#endif
