/* What the engine knows about a thread's signals (engine/signals.c). */
#ifndef PRESTORE_SIGNALS_H
#define PRESTORE_SIGNALS_H

/* Has the engine queued a signal that the thread has yet to get? */
int engine_signal_waits(void *drcontext);

#endif
