/* What the library makes of the module. */
#include "../common/guest.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../include/prestore_map.h"

enum { BYTES = 3 * PAGE + 100 };

_Static_assert((int)PRESTORE_WB == (int)PRESTORE_DEV_WB && (int)PRESTORE_WT == (int)PRESTORE_DEV_WT &&
                   (int)PRESTORE_WC == (int)PRESTORE_DEV_WC && (int)PRESTORE_UC == (int)PRESTORE_DEV_UC,
               "the library's types are the module's");

static void refused(const char *what, size_t size, int type)
{
    void *address = prestore_map(size, (prestore_type)type);

    say("library %s: %s", what, address ? "done" : outcome(-1));
}

void test_library_without_module(void)
{
    refused("without module", PAGE, PRESTORE_WB);
    say("library why: %s", prestore_map_why(errno));
}

void test_library(void)
{
    const uint32_t types = info().types;

    for (int type = PRESTORE_WB; type <= PRESTORE_UC; type++) {
        char found[16];
        int status;

        if (!(types & 1u << type)) {
            refused(type_names[type], PAGE, type);
            continue;
        }
        unsigned char *bytes = prestore_map(BYTES, (prestore_type)type);
        need(bytes != NULL, "prestore_map");
        probe(bytes + BYTES - 1, found);
        pid_t child = fork();
        if (child == 0) {
            bytes[BYTES - 1] = 77;
            _exit(0);
        }
        need(waitpid(child, &status, 0) == child, "waitpid");
        say("library %s: %s, %lu used, byte %d", type_names[type], found, (unsigned long)info().used, bytes[BYTES - 1]);
        const char *unmapped = outcome(prestore_unmap(bytes, BYTES));
        say("library %s unmapped: %s, %lu used", type_names[type], unmapped, (unsigned long)used_at_last(0));
    }
    refused("0 bytes", 0, PRESTORE_WB);
    refused("all bytes", SIZE_MAX, PRESTORE_WB);
    refused("nearly all bytes", SIZE_MAX / 2, PRESTORE_WB);
    refused("type 4", PAGE, 4);
    refused("type -1", PAGE, -1);
    say("library unmap at no page: %s", outcome(prestore_unmap((char *)16, PAGE)));
}
