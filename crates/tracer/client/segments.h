/* Instructions that use the segments FS and GS in ways that the engine does not translate. */
#ifndef PRESTORE_SEGMENTS_H
#define PRESTORE_SEGMENTS_H

#include "dr_api.h"

bool segments_init(void);

#endif
