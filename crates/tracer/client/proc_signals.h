/* What /proc tells of signals, as it is for the program. */
#ifndef PRESTORE_PROC_SIGNALS_H
#define PRESTORE_PROC_SIGNALS_H

#include "text.h"

/* Adds `status`, the content of such a file of this process, to `out`. */
void proc_signals_status(const text_t *status, text_t *out);

/* The same of `stat`. */
void proc_signals_stat(const text_t *stat, text_t *out);

#endif
