/* The program's environment without what the engine was started with. */
#ifndef PRESTORE_ENVIRONMENT_H
#define PRESTORE_ENVIRONMENT_H

#include "dr_api.h"

/* Before the program's first instruction. */
void environment_clean(void);

/* Is it one of the engine's, as in NAME=VALUE? */
bool environment_is_engines(const char *variable);

/* The auxiliary vector as the program has it, up to its end; NULL where it was not found. */
const void *environment_auxv(size_t *bytes);

/* The program's arguments, followed by its environment; NULL where they were not found. */
char **environment_argv(void);

#endif
