/* Mappings that the program asks the kernel about one by one, without the engine's. */
#ifndef PRESTORE_PROC_QUERY_H
#define PRESTORE_PROC_QUERY_H

#include "dr_api.h"

/* Answers the call if it asks a copy of maps with PROCMAP_QUERY; false: it does not. */
bool proc_query_call(void *drcontext, int number);

#endif
