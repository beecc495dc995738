/* Which programs that a process executes are recorded too. */
#ifndef PRESTORE_EXEC_H
#define PRESTORE_EXEC_H

#include "dr_api.h"

/* Where this very program is one that runs without us, does not return: it is executed so. */
void exec_self(client_id_t id);

void exec_init(void);

/* In a forked child. */
void exec_forked(void);

/* At the process's end. */
void exec_exit(void);

#endif
