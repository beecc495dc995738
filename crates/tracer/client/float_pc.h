/* The address of the last floating-point instruction. */
#ifndef PRESTORE_FLOAT_PC_H
#define PRESTORE_FLOAT_PC_H

#include "dr_api.h"

bool float_pc_init(void);

#endif
