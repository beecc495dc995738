/* Code that all blocks share: calls a C function from the code cache and jumps back. Inlined code
 * jumps there with the way back in rcx, so that a rare call costs a block few bytes. The function
 * finds the way back in TLS_BACK, and may change it. */
#ifndef PRESTORE_GENCODE_H
#define PRESTORE_GENCODE_H

#include "dr_api.h"

byte *gencode_make(void (*callee)(void));
void gencode_free(byte *code);

#endif
