/* System calls on file descriptors that the engine must be helped with. */
#ifndef PRESTORE_DESCRIPTORS_H
#define PRESTORE_DESCRIPTORS_H

void descriptors_init(void);

#endif
