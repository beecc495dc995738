/* Where the file lies that a program executes by a link of /proc. */
#ifndef PRESTORE_EXEC_FILE_H
#define PRESTORE_EXEC_FILE_H

#include "dr_api.h"

typedef enum {
    AS_GIVEN,  /* where the program says */
    ELSEWHERE, /* at another path, for the next image has not what the link belongs to */
    NO_PATH,   /* at none: it was deleted, or never had one */
} exec_place_t;

typedef struct {
    exec_place_t place;
    bool engine; /* the kernel's link leads to the engine, and must not be followed */
    char path[MAXIMUM_PATH];
} exec_file_t;

/* What `given`, which can be executed, leads to. */
exec_file_t exec_file_find(const char *given);

#endif
