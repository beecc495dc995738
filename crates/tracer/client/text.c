#include "text.h"

#include <string.h>

void
text_add(text_t *t, const void *bytes, size_t length)
{
    if (t->length + length > t->room) {
        size_t room = 2 * (t->length + length) + 4096;
        char *at = dr_global_alloc(room);
        if (t->at != NULL)
            memcpy(at, t->at, t->length);
        text_free(t);
        t->at = at;
        t->room = room;
    }
    memcpy(t->at + t->length, bytes, length);
    t->length += length;
}

void
text_free(text_t *t)
{
    if (t->at != NULL)
        dr_global_free(t->at, t->room);
    t->at = NULL;
    t->room = 0;
}
