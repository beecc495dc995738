/* The link to the program that /proc has of each process: the kernel's leads to the engine. */
#ifndef PRESTORE_PROC_PROGRAM_H
#define PRESTORE_PROC_PROGRAM_H

#include "dr_api.h"

/* Makes a call that follows the link, or reads it, in the program's stead. False: it is none. */
bool proc_program_call(void *drcontext, int number);

#endif
