/* Memory that is a file's, so that stores reach it, or other processes' as well. */
#ifndef PRESTORE_MAPPED_FILES_H
#define PRESTORE_MAPPED_FILES_H

#include "dr_api.h"

/* After an mmap with these arguments gave `address`: tells the host if it is such a mapping. */
void mapped_files_mapped(void *drcontext, uint64 address, const uint64 args[6]);

/* After a shmat with these arguments gave `address`. */
void mapped_files_attached(uint64 address, const uint64 args[6]);

/* After an mremap with these arguments gave `to`: tells the host if it may be such memory. */
void mapped_files_moved(uint64 to, const uint64 args[6]);

/* After a successful msync with these arguments. */
void mapped_files_synced(void *drcontext, const uint64 args[6]);

#endif
