/* The program's own file cannot be written while it runs. */
#ifndef PRESTORE_TEXT_BUSY_H
#define PRESTORE_TEXT_BUSY_H

void text_busy_init(void);

#endif
