#include "options.h"

#include <stdlib.h>
#include <string.h>

options_t options = {
    .scope = SCOPE_ALL,
    .allocations = true,
    .region = -1,
    .slots = 8,
    .slot_words = 16 * 1024,
};

bool
options_windowed(void)
{
    return options.regions_only || options.skip > 0 || options.take > 0 || options.burst > 0;
}

bool
options_record(void)
{
    return options.scope == SCOPE_ALL;
}

static scope_t
scope_of(const char *name)
{
    if (strcmp(name, "try") == 0)
        return SCOPE_TRY;
    return strcmp(name, "count") == 0 ? SCOPE_COUNT : SCOPE_ALL;
}

static bool
parse_one(const char *key, const char *value)
{
    if (strcmp(key, "dir") == 0) {
        if (strlen(value) >= sizeof(options.dir) - 64)
            return false;
        strcpy(options.dir, value);
    } else if (strcmp(key, "scope") == 0) {
        options.scope = scope_of(value);
    } else if (strcmp(key, "values") == 0) {
        options.values = value[0] == '1';
    } else if (strcmp(key, "check") == 0) {
        options.check = value[0] == '1';
    } else if (strcmp(key, "verify") == 0) {
        options.verify = value;
    } else if (strcmp(key, "stops") == 0) {
        options.stops = value;
    } else if (strcmp(key, "allocations") == 0) {
        options.allocations = value[0] == '1';
    } else if (strcmp(key, "region") == 0) {
        options.regions_only = true;
        options.region = strcmp(value, "any") == 0 ? -1 : atoi(value);
    } else if (strcmp(key, "skip") == 0) {
        options.skip = strtoull(value, NULL, 10);
    } else if (strcmp(key, "take") == 0) {
        options.take = strtoull(value, NULL, 10);
    } else if (strcmp(key, "period") == 0) {
        options.period = strtoull(value, NULL, 10);
    } else if (strcmp(key, "burst") == 0) {
        options.burst = strtoull(value, NULL, 10);
    } else if (strcmp(key, "dense") == 0) {
        options.dense = strtoull(value, NULL, 10);
    } else if (strcmp(key, "thinnest") == 0) {
        options.thinnest = strtoull(value, NULL, 10);
    } else if (strcmp(key, "gap_a_block") == 0) {
        options.gap_a_block = strtoull(value, NULL, 10);
    } else if (strcmp(key, "slots") == 0) {
        options.slots = (uint)atoi(value);
    } else if (strcmp(key, "slot_words") == 0) {
        options.slot_words = (uint)atoi(value);
    } else {
        return false;
    }
    return true;
}

bool
options_parse(int argc, const char *argv[])
{
    for (int i = 1; i < argc; i++) {
        char key[32];
        const char *equals = strchr(argv[i], '=');
        size_t len = equals == NULL ? 0 : (size_t)(equals - argv[i]);
        if (len == 0 || len >= sizeof(key)) {
            dr_fprintf(STDERR, "prestore: the recorder's argument '%s' is malformed\n", argv[i]);
            return false;
        }
        memcpy(key, argv[i], len);
        key[len] = '\0';
        if (!parse_one(key, equals + 1)) {
            dr_fprintf(STDERR, "prestore: the recorder does not know '%s'\n", argv[i]);
            return false;
        }
    }
    options.values = options.values && options_record();
    return options.dir[0] != '\0';
}
