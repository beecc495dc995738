/* The guest's first process. */
#include "../common/guest.h"

int main(void)
{
    begin();
    test_library_without_module();
    say("load: %s", outcome(load("/prestore.ko", "")));
    need(load("/prestore_probe.ko", "") == 0, "prestore_probe.ko");
    test_types();
    test_sharing();
    test_hostile_requests();
    test_hostile_mappings();
    test_library();
    test_ends();
    end();
    return 0;
}
