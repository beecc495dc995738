/* Where a module has its allocation functions. */
#ifndef PRESTORE_ALLOC_SYMBOLS_H
#define PRESTORE_ALLOC_SYMBOLS_H

#include "dr_api.h"

/* What a function's arguments mean, as far as it is not "argument 0 is the size". The low byte is
 * the record's kind. Macros, as assembly reads them. */
#define CALL_SIZE_ARG1 0x100      /* argument 1 is the size */
#define CALL_SIZE_ARG2 0x200      /* argument 2 is */
#define CALL_TIMES_NEXT 0x400     /* times the argument behind it */
#define CALL_RETURNS_OLD 0x800    /* argument 0 is memory given back once the call succeeded */
#define CALL_RESULT_IN_ARG0 0x1000 /* argument 0 points to the result; 0 is returned on success */
#define CALL_FREE 0x2000          /* argument 0 is memory given back; nothing is allocated */

/* Calls `found` for each allocation function that `module` defines; returns how many. */
uint alloc_symbols(const module_data_t *module, void (*found)(app_pc pc, uint call));

#endif
