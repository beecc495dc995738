#include "meeting.h"

#include "back_off.h"

static void await(_Atomic uint32_t *flag)
{
    for (unsigned attempt = 0; !atomic_load_explicit(flag, memory_order_acquire); attempt++)
        back_off(attempt);
    atomic_exchange(flag, 0);
}

void meeting_attend(struct meeting *meeting, uint64_t threads, uint64_t thread)
{
    if (thread != 0) {
        atomic_exchange(&meeting->members[thread].arrived, 1);
        await(&meeting->members[thread].released);
        return;
    }
    for (uint64_t t = 1; t < threads; t++)
        await(&meeting->members[t].arrived);
    for (uint64_t t = 1; t < threads; t++)
        atomic_exchange(&meeting->members[t].released, 1);
}
