/* The link to the program that /proc has of each process: the kernel's leads to the engine. */
#ifndef PRESTORE_PROC_PROGRAM_H
#define PRESTORE_PROC_PROGRAM_H

#include "dr_api.h"
#include "proc_paths.h"

void proc_program_init(void);

/* A path to what a link that leads to the engine stands for: of this process unless it is another's link. False: nobody knows. */
bool proc_program_behind(file_of_t link, char *path);

/* Makes a call that follows the link, or reads it, in the program's stead. False: it is none. */
bool proc_program_call(void *drcontext, int number);

#endif
