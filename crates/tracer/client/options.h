/* What the host asked for: "key=value" arguments. */
#ifndef PRESTORE_OPTIONS_H
#define PRESTORE_OPTIONS_H

#include "dr_api.h"

/* SCOPE_TRY: nothing is recorded, see trial.h. */
typedef enum { SCOPE_COUNT, SCOPE_ALL, SCOPE_TRY } scope_t;

typedef struct {
    char dir[MAXIMUM_PATH]; /* session directory */
    scope_t scope;
    bool values;         /* record stored values */
    bool allocations;    /* record malloc and friends */
    bool check;          /* prove each block's code before it runs */
    const char *verify;  /* FILE,BEGIN,END: see verify.h; NULL: not asked for */
    const char *stops;   /* FILE,BLOCKS: see stops.h; NULL: not asked for */
    bool regions_only;   /* record inside source regions only */
    int region;          /* which region, -1: any */
    uint64 skip;         /* instructions before the first window */
    uint64 take;         /* instructions of a window, 0: to the end */
    uint64 period;       /* instructions from window to window, 0: one window */
    uint64 burst;        /* instructions of a window, 0: windows are as above, see window.c */
    uint64 dense;        /* instructions of which every window is recorded, whole windows */
    uint64 thinnest;     /* at most one window of so many is recorded */
    uint64 gap_a_block;  /* instructions for each block, of gaps for which code is made, see forms.h */
    uint slots;          /* buffers a thread */
    uint slot_words;     /* words a buffer */
} options_t;

extern options_t options;

/* Returns false after a message where an argument is unknown. */
bool options_parse(int argc, const char *argv[]);

/* Are accesses recorded, not counted or changed? */
bool options_record(void);

/* Is recording bounded by windows or regions, so that code is switched at run time? */
bool options_windowed(void);

#endif
