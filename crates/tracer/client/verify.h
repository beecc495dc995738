/* For tests: writes down what the program has at the beginning of each block that it executes, to be
 * compared with a run without the recorder (tests/verify.rs). Of programs with one thread. */
#ifndef PRESTORE_VERIFY_H
#define PRESTORE_VERIFY_H

#include "dr_api.h"

/* As `options.verify` says: into FILE; memory is that from BEGIN to END, hexadecimal. Returns false
 * after a message. */
bool verify_init(void);

#endif
