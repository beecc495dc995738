/* Programs that ask for what cannot be had beside the engine. */
#ifndef PRESTORE_UNRECORDABLE_H
#define PRESTORE_UNRECORDABLE_H

/* Says that the process `does` something, and ends the program: to let the call fail instead would make
 * another program of it, one that was never asked for. */
void unrecordable(const char *does);

#endif
