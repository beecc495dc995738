/* Tells the host about this process and its modules. */
#ifndef PRESTORE_MODULES_H
#define PRESTORE_MODULES_H

#include "dr_api.h"

/* First frame of the process's meta log. `inherited`: block ids below it are the parent's. */
void modules_process(uint inherited);
/* In a forked child: the modules that it began with. Those of its parent may have changed by the time
 * the host looks at them. */
void modules_forked(void);
/* Registers for loads and unloads. */
void modules_init(void);

#endif
