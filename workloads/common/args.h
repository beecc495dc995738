/* Command lines of the form --key=value, described by a table. */
#ifndef WORKLOADS_ARGS_H
#define WORKLOADS_ARGS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum arg_kind {
    ARG_COUNT,  /* an integer, optionally with K, M or G for powers of 1024 */
    ARG_REAL,   /* a decimal number */
    ARG_CHOICE, /* one of a list of words; the target holds its index */
    ARG_TEXT,   /* any text */
};

/* One argument. The target holds the default before parsing and the user's value after. */
struct arg {
    const char *name;
    const char *help;
    enum arg_kind kind;
    void *target; /* uint64_t, double, int or const char *, by kind */
    double min, max;
    const char *const *choices; /* ends with NULL */
};

#define ARG_COUNT_OF(name, target, min, max, help) \
    { name, help, ARG_COUNT, target, (double)(min), (double)(max), NULL }
#define ARG_REAL_OF(name, target, min, max, help) \
    { name, help, ARG_REAL, target, min, max, NULL }
#define ARG_CHOICE_OF(name, target, choices, help) \
    { name, help, ARG_CHOICE, target, 0, 0, choices }
#define ARG_TEXT_OF(name, target, help) \
    { name, help, ARG_TEXT, target, 0, 0, NULL }

/* `no` is 0, `yes` is 1. */
extern const char *const ARG_NO_YES[];

/* Fills the targets. An unknown key or a bad value prints the cause and the usage to stderr and exits with 2;
 * --help prints the usage to stdout and exits with 0. */
void args_parse(int argc, char **argv, const char *summary, const struct arg *args, size_t count);

/* What the usage says stands before the arguments: words that the program takes off the command line itself. */
void args_follow(const char *words);

/* Ends the program like a bad argument does, for limits that span several arguments. */
void args_fail(const char *message) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
