/* The guest's first process. */
#include "guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void mounted(const char *type, const char *at)
{
    mkdir(at, 0755);
    need(mount(type, at, type, 0, NULL) == 0, at);
}

int main(void)
{
    mounted("devtmpfs", "/dev");
    /* The kernel found no /dev/console to begin with. */
    need(freopen("/dev/console", "r", stdin) && freopen("/dev/console", "w", stdout) && freopen("/dev/console", "w", stderr),
         "/dev/console");
    mounted("proc", "/proc");
    mounted("sysfs", "/sys");
    mounted("debugfs", "/sys/kernel/debug");
    say("load: %s", outcome(load("/prestore.ko", "")));
    need(load("/prestore_probe.ko", "") == 0, "prestore_probe.ko");
    test_types();
    test_sharing();
    test_hostile_requests();
    test_hostile_mappings();
    test_ends();
    say("end");
    sync();
    reboot(RB_POWER_OFF);
    return 0;
}
