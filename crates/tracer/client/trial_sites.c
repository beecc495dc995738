#include "trial_sites.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drmgr.h"
#include "hashtable.h"
#include "options.h"

static char *text; /* the list; paths point into it */
static size_t text_bytes;
static trial_site_t *sites;
static uint n_sites;
static bool fenced, mixed;

static trial_sums_t *sums;
static size_t results_bytes;

static hashtable_t by_pc; /* -> trial_site_t */
static volatile app_pc lowest = (app_pc)~(ptr_uint_t)0, highest;

static char *
line_end(char *line)
{
    char *end = strchr(line, '\n');
    return end == NULL ? line + strlen(line) : end;
}

static trial_op_t
op_of(char letter)
{
    switch (letter) {
    case 's': return TRIAL_SKIP;
    case 'c': return TRIAL_CLEAN;
    case 'd': return TRIAL_DEMOTE;
    default: return TRIAL_NOTHING;
    }
}

/* "fences 0|1", then a line "OP GROUP OFFSET PATH" for each site. */
static bool
parse(void)
{
    uint fences = 0, at = 0;
    if (dr_sscanf(text, "fences %u", &fences) != 1)
        return false;
    fenced = fences != 0;
    for (char *c = line_end(text); *c != '\0'; c = line_end(c + 1))
        n_sites += c[1] != '\0' ? 1 : 0;
    sites = dr_global_alloc((n_sites + 1) * sizeof(*sites));
    uint skipped = 0;
    char *line = line_end(text);
    while (at < n_sites) {
        *line++ = '\0';
        char *end = line_end(line), letter;
        trial_site_t *site = &sites[at];
        uint64 offset;
        uint group;
        char *path = line;
        for (int word = 0; word < 3 && path != NULL; word++) {
            path = strchr(path, ' ');
            path = path == NULL ? NULL : path + 1;
        }
        if (path == NULL || path > end ||
            dr_sscanf(line, "%c %u %llx", &letter, &group, &offset) != 3)
            return false;
        uint first = 0;
        while (first < at && sites[first].group != group)
            first++;
        *site = (trial_site_t){ at++, op_of(letter), first, group, offset, path };
        if (site->op == TRIAL_SKIP) {
            mixed = mixed || (skipped != 0 && skipped != group);
            skipped = group;
        }
        line = end;
    }
    *line = '\0';
    return true;
}

static bool
read_list(void)
{
    char path[MAXIMUM_PATH];
    dr_snprintf(path, sizeof(path), "%s/trial-sites", options.dir);
    file_t file = dr_open_file(path, DR_FILE_READ);
    uint64 size;
    if (file < 0)
        return false;
    bool read = dr_file_size(file, &size);
    if (read) {
        text_bytes = (size_t)size + 1;
        text = dr_global_alloc(text_bytes);
        memset(text, 0, text_bytes);
        read = dr_read_file(file, text, (size_t)size) == (ssize_t)size;
    }
    dr_close_file(file);
    return read && parse();
}

static bool
map_results(void)
{
    char path[MAXIMUM_PATH];
    dr_snprintf(path, sizeof(path), "%s/trial-results", options.dir);
    /* Not `open`, which is the engine's. */
    int fd = dr_open_aside(AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    results_bytes = sizeof(trial_sums_t) + n_sites * sizeof(trial_site_result_t);
    void *map = mmap(NULL, results_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (map == MAP_FAILED)
        return false;
    sums = map;
    return true;
}

static void
each_site(const module_data_t *module, void (*with)(app_pc pc, trial_site_t *site))
{
    for (uint i = 0; i < n_sites; i++) {
        app_pc pc = module->start - (ptr_uint_t)module->preferred_base + sites[i].offset;
        if (strcmp(sites[i].path, module->full_path) == 0 && pc >= module->start &&
            pc < module->end)
            with(pc, &sites[i]);
    }
}

static void
add(app_pc pc, trial_site_t *site)
{
    hashtable_add_replace(&by_pc, pc, site);
    lowest = pc < lowest ? pc : lowest;
    highest = pc > highest ? pc : highest;
}

static void
drop(app_pc pc, trial_site_t *site)
{
    hashtable_remove(&by_pc, pc);
}

static void
on_load(void *drcontext, const module_data_t *module, bool loaded)
{
    if (module->full_path != NULL)
        each_site(module, add);
}

static void
on_unload(void *drcontext, const module_data_t *module)
{
    if (module->full_path != NULL)
        each_site(module, drop);
}

bool
trial_sites_init(void)
{
    hashtable_init_ex(&by_pc, 8, HASH_INTPTR, false, true, NULL, NULL, NULL);
    if (!read_list() || !map_results()) {
        dr_fprintf(STDERR, "prestore: the stores to change cannot be read from %s\n", options.dir);
        return false;
    }
    return drmgr_register_module_load_event(on_load) &&
           drmgr_register_module_unload_event(on_unload);
}

void
trial_sites_exit(void)
{
    hashtable_delete(&by_pc);
    munmap(sums, results_bytes);
    dr_global_free(sites, (n_sites + 1) * sizeof(*sites));
    dr_global_free(text, text_bytes);
}

uint
trial_sites_count(void)
{
    return n_sites;
}

bool
trial_sites_mixed(void)
{
    return mixed;
}

bool
trial_sites_fenced(void)
{
    return fenced;
}

trial_sums_t *
trial_sums(void)
{
    return sums;
}

trial_site_result_t *
trial_site_results(void)
{
    return (trial_site_result_t *)(sums + 1);
}

const trial_site_t *
trial_site_at(app_pc pc)
{
    return pc < lowest || pc > highest ? NULL : hashtable_lookup(&by_pc, pc);
}

void
trial_site_note(const trial_site_t *site, site_fate_t fate)
{
    __atomic_store_n(&trial_site_results()[site->number].fate, (uint)fate, __ATOMIC_RELAXED);
}
