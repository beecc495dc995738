/* Which of the kernel's files about processes a path names. */
#ifndef PRESTORE_PROC_PATHS_H
#define PRESTORE_PROC_PATHS_H

#include "dr_api.h"

typedef enum { OTHER, MAPS, ENVIRON, AUXV, EXE, STATUS, STAT, STATM, ROLLUP, PERSONALITY } file_kind_t;

/* Long enough for "/proc/", two numbers and a name. */
#define PROC_PATH 64

typedef struct {
    file_kind_t kind;
    bool own;             /* of this process, not of another that may be recorded too */
    char path[PROC_PATH]; /* unless it is OTHER: one that begins with "/proc/" */
} file_of_t;

/* What the program's text at `given` names, from `dir`; a link in the end is itself. */
file_of_t proc_file_at(int dir, reg_t given);

#endif
