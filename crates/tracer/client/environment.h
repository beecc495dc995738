/* The program's environment without what the engine was started with. */
#ifndef PRESTORE_ENVIRONMENT_H
#define PRESTORE_ENVIRONMENT_H

/* Before the program's first instruction. */
void environment_clean(void);

#endif
