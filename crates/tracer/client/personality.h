/* The program's personality, without what the recorder adds to it. */
#ifndef PRESTORE_PERSONALITY_H
#define PRESTORE_PERSONALITY_H

#include "text.h"

void personality_init(void);

/* What /proc says of it, as the program would see it. */
void personality_filter(const text_t *from, text_t *to);

#endif
