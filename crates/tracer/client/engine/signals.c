/* Compiled with the engine's own headers, of the version that is linked: its interface does not
 * tell what this needs to know. */
#include "globals.h"

#include "../signals.h"

int
engine_signal_waits(void *drcontext)
{
    return ((dcontext_t *)drcontext)->signals_pending > 0;
}
