/* What /proc says of the program, without the engine in it. */
#ifndef PRESTORE_PROC_FILES_H
#define PRESTORE_PROC_FILES_H

void proc_files_init(void);

#endif
