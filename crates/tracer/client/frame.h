/* Does rbp point to the running function's frame, or to something else? */
#ifndef PRESTORE_FRAME_H
#define PRESTORE_FRAME_H

#include "dr_api.h"

bool frame_init(void);
void frame_exit(void);
/* Is rbp a frame pointer at the begin of the block at `pc`, which is being instrumented? */
bool frame_pointer_at(void *drcontext, app_pc pc);

#endif
