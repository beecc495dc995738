#include "unrecordable.h"

#include "dr_api.h"

void
unrecordable(const char *does)
{
    dr_fprintf(STDERR,
               "prestore: process %d %s: this program cannot be recorded and was ended here; run it "
               "without prestore\n",
               dr_get_process_id(), does);
    dr_exit_process(3);
}
