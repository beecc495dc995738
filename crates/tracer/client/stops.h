/* For tests: stops all threads of the program again and again, at the beginning of a block or in a
 * system call, and writes down what its memory is then and how far each thread's recording has come
 * (tests/rebuild.rs). */
#ifndef PRESTORE_STOPS_H
#define PRESTORE_STOPS_H

#include "dr_api.h"

/* As `options.stops` says: into FILE, every BLOCKS executed blocks on average, decimal, and when the
 * program ends. Returns false after a message. */
bool stops_init(void);
void stops_exit(void);

#endif
