#include "xsave.h"

#include <cpuid.h>

/* The processor's, which a forked child inherits: asking takes an exit from a virtual machine each time. */
static xsave_layout_t layout;
static bool known;

static void
ask(void)
{
    uint32_t a, b, c, d;
    if (!__get_cpuid_count(0xd, 0, &a, &b, &c, &d))
        return;
    layout.components = a | (uint64_t)d << 32;
    layout.entries = 64;
    for (uint32_t i = 2; i < 64; i++) {
        if (layout.components >> i & 1 && __get_cpuid_count(0xd, i, &a, &b, &c, &d)) {
            layout.component[i][0] = b;
            layout.component[i][1] = a | (c & 2 ? XSAVE_ALIGNED : 0);
        }
    }
}

const xsave_layout_t *
xsave_layout(void)
{
    if (!known)
        ask();
    known = true;
    return &layout;
}
