#include "modules.h"

#include <string.h>
#include <unistd.h>

#include "session.h"
#include "drmgr.h"
#include "xsave.h"

void
modules_process(uint inherited)
{
    struct {
        uint32_t type, bytes;
        uint32_t pid, parent, inherited, entries;
        uint64_t xcr0;
        uint64_t stamp, origin;
        uint32_t component[64][2];
    } frame = { .type = META_PROCESS };
    const process_origin_t *origin = session_origin();
    const xsave_layout_t *xsave = xsave_layout();
    frame.pid = (uint32_t)session_pid();
    frame.parent = inherited > 0 ? (uint32_t)origin->pid : (uint32_t)getppid();
    frame.inherited = inherited;
    frame.stamp = session_stamp();
    frame.origin = inherited > 0 ? origin->stamp : 0;
    frame.xcr0 = xsave->components;
    frame.entries = xsave->entries;
    memcpy(frame.component, xsave->component, sizeof(frame.component));
    frame.bytes = 40 + frame.entries * 8;
    session_meta(&frame, 8 + frame.bytes);
}

static void
tell(const module_data_t *module)
{
    char frame[8 + 32 + MAXIMUM_PATH + 8] = { 0 };
    const char *path = module->full_path != NULL && module->full_path[0] != '\0'
        ? module->full_path
        : dr_module_preferred_name(module);
    size_t length = path == NULL ? 0 : strlen(path);
    if (length > MAXIMUM_PATH)
        length = MAXIMUM_PATH;
    size_t payload = (32 + length + 7) & ~(size_t)7;
    uint32_t *front = (uint32_t *)frame;
    uint64_t *fields = (uint64_t *)(frame + 8);
    uint16_t *lengths = (uint16_t *)(frame + 8 + 24);
    front[0] = META_MODULE;
    front[1] = (uint32_t)payload;
    fields[0] = (uint64_t)module->start;
    fields[1] = (uint64_t)module->end;
    fields[2] = (uint64_t)module->start - (uint64_t)module->preferred_base;
    lengths[1] = (uint16_t)length;
    memcpy(frame + 8 + 32, path == NULL ? "" : path, length);
    session_meta(frame, 8 + payload);
}

static void
on_load(void *drcontext, const module_data_t *module, bool loaded)
{
    tell(module);
}

static void
on_unload(void *drcontext, const module_data_t *module)
{
    struct {
        uint32_t type, bytes;
        uint64_t start;
    } frame = { META_UNLOAD, 8, (uint64_t)module->start };
    session_meta(&frame, sizeof(frame));
}

void
modules_forked(void)
{
    dr_module_iterator_t *all = dr_module_iterator_start();
    while (dr_module_iterator_hasnext(all)) {
        module_data_t *module = dr_module_iterator_next(all);
        tell(module);
        dr_free_module_data(module);
    }
    dr_module_iterator_stop(all);
}

void
modules_init(void)
{
    drmgr_register_module_load_event(on_load);
    drmgr_register_module_unload_event(on_unload);
}
