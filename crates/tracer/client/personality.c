#define _GNU_SOURCE
#include "personality.h"

#include <stdlib.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dr_api.h"
#include "drmgr.h"
#include "seccomp.h"

/* The host has the kernel place all alike, by a flag that programs can ask for and set themselves. Beside
 * it stands one that means nothing here, as long as the first is the host's (`place_alike` in launch.rs): the
 * kernel keeps both over fork and execve. */
#define ALIKE ADDR_NO_RANDOMIZE
#define BY_HOST FDPIC_FUNCPTRS
#define ASKS 0xffffffffu

static uint
without_host(uint flags)
{
    return (flags & BY_HOST) != 0 ? flags & ~(uint)(ALIKE | BY_HOST) : flags;
}

static bool
before_syscall(void *drcontext, int call)
{
    if (call != SYS_personality)
        return true;
    uint asked = (uint)dr_syscall_get_param(drcontext, 0);
    uint now = (uint)syscall(SYS_personality, ASKS);
    if ((now & BY_HOST) == 0)
        return true;
    /* What it asks for itself is no longer the host's. */
    if (asked != ASKS)
        syscall(SYS_personality, (asked & ALIKE) != 0 ? asked : asked | ALIKE | BY_HOST);
    dr_syscall_set_result(drcontext, without_host(now));
    return false;
}

void
personality_filter(const text_t *from, text_t *to)
{
    char digits[16] = "";
    for (size_t i = 0; i < from->length && i < sizeof(digits) - 1; i++)
        digits[i] = from->at[i];
    int n = dr_snprintf(digits, sizeof(digits), "%08x\n", without_host((uint)strtoul(digits, NULL, 16)));
    text_add(to, digits, (size_t)n);
}

void
personality_init(void)
{
    seccomp_before_allowed(before_syscall, NULL);
}
