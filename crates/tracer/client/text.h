/* A growing text. */
#ifndef PRESTORE_TEXT_H
#define PRESTORE_TEXT_H

#include "dr_api.h"

typedef struct {
    char *at;
    size_t length, room;
} text_t;

void text_add(text_t *t, const void *bytes, size_t length);
void text_free(text_t *t);

/* All that the kernel says; nothing where it says nothing. */
text_t text_of_file(const char *path);

#endif
