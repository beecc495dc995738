/* What the kernel refuses to execute. It is not asked, as the engine is executed instead. */
#ifndef PRESTORE_EXEC_REFUSED_H
#define PRESTORE_EXEC_REFUSED_H

#include "dr_api.h"

/* Is there something that the user may execute, for execveat with such flags? Else the call will fail. Where the kernel does
 * not tell who may (before 5.8, and under old filters), it is taken to be so. */
bool exec_is_allowed(int dir, const char *path, int flags);

/* May what executes it not be executed: the interpreter of a script, that of an ELF file; or is that file's table of segments
 * no table? What cannot be read, and what neither is, is not refused here. */
bool exec_is_refused(const char *path);

#endif
