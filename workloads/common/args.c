#include "args.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ARG_NO_YES[] = { "no", "yes", NULL };

static const char *program = "";
static const char *program_words = "";
static const char *program_summary = "";
static const struct arg *program_args;
static size_t program_arg_count;

static void print_default(FILE *out, const struct arg *arg)
{
    switch (arg->kind) {
    case ARG_COUNT:
        fprintf(out, "%llu", (unsigned long long)*(const uint64_t *)arg->target);
        break;
    case ARG_REAL:
        fprintf(out, "%g", *(const double *)arg->target);
        break;
    case ARG_CHOICE:
        fprintf(out, "%s", arg->choices[*(const int *)arg->target]);
        break;
    case ARG_TEXT:
        fprintf(out, "%s", *(const char *const *)arg->target);
        break;
    }
}

static void print_range(FILE *out, const struct arg *arg)
{
    if (arg->kind == ARG_TEXT) {
        fprintf(out, "any text");
        return;
    }
    if (arg->kind != ARG_CHOICE) {
        fprintf(out, "%.15g to %.15g", arg->min, arg->max);
        return;
    }
    for (size_t i = 0; arg->choices[i]; i++)
        fprintf(out, "%s%s", i ? "|" : "", arg->choices[i]);
}

static void print_usage(FILE *out)
{
    fprintf(out, "usage: %s %s%s[--key=value ...]\n%s\n", program, program_words, *program_words ? " " : "",
            program_summary);
    for (size_t i = 0; i < program_arg_count; i++) {
        const struct arg *arg = &program_args[i];
        fprintf(out, "  --%s=", arg->name);
        print_default(out, arg);
        fprintf(out, "\n        %s; ", arg->help);
        print_range(out, arg);
        fputc('\n', out);
    }
}

void args_fail(const char *message)
{
    fprintf(stderr, "%s: %s\n", program, message);
    print_usage(stderr);
    exit(2);
}

static void fail_value(const struct arg *arg, const char *value)
{
    fprintf(stderr, "%s: --%s=%s is not one of: ", program, arg->name, value);
    print_range(stderr, arg);
    fputc('\n', stderr);
    print_usage(stderr);
    exit(2);
}

static int in_range(const struct arg *arg, double value)
{
    return value >= arg->min && value <= arg->max;
}

static int set_count(const struct arg *arg, const char *text)
{
    static const char suffixes[] = "KMG";
    char *end;

    if (*text < '0' || *text > '9')
        return 0;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (*end) {
        const char *suffix = strchr(suffixes, *end);
        if (!suffix || end[1])
            return 0;
        unsigned shift = 10 * (unsigned)(suffix - suffixes + 1);
        if (value > UINT64_MAX >> shift)
            return 0;
        value <<= shift;
    }
    if (errno || !in_range(arg, (double)value))
        return 0;
    *(uint64_t *)arg->target = value;
    return 1;
}

static int set_real(const struct arg *arg, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !isfinite(value) || !in_range(arg, value))
        return 0;
    *(double *)arg->target = value;
    return 1;
}

static int set_choice(const struct arg *arg, const char *text)
{
    for (int i = 0; arg->choices[i]; i++) {
        if (strcmp(arg->choices[i], text) == 0) {
            *(int *)arg->target = i;
            return 1;
        }
    }
    return 0;
}

static int set(const struct arg *arg, const char *text)
{
    switch (arg->kind) {
    case ARG_COUNT:
        return set_count(arg, text);
    case ARG_REAL:
        return set_real(arg, text);
    case ARG_CHOICE:
        return set_choice(arg, text);
    case ARG_TEXT:
        *(const char **)arg->target = text;
        return 1;
    }
    return 0;
}

static void parse_one(const char *text)
{
    const char *equals = strchr(text, '=');
    char message[200];

    if (strncmp(text, "--", 2) == 0 && equals) {
        size_t length = (size_t)(equals - text) - 2;
        for (size_t i = 0; i < program_arg_count; i++) {
            const struct arg *arg = &program_args[i];
            if (strlen(arg->name) == length && memcmp(arg->name, text + 2, length) == 0) {
                if (!set(arg, equals + 1))
                    fail_value(arg, equals + 1);
                return;
            }
        }
    }
    snprintf(message, sizeof message, "unknown argument '%s'; arguments are written --key=value", text);
    args_fail(message);
}

void args_follow(const char *words)
{
    program_words = words;
}

void args_parse(int argc, char **argv, const char *summary, const struct arg *args, size_t count)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;

    program = slash ? slash + 1 : argc > 0 ? argv[0] : "";
    program_summary = summary;
    program_args = args;
    program_arg_count = count;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            print_usage(stdout);
            exit(0);
        }
        parse_one(argv[i]);
    }
}
