#include "command.h"

#include <string.h>

#define MOST_ARGS 16

void command_parse(int argc, char **argv, const char *summary, struct command *command, const struct arg *own,
                   size_t count)
{
    struct arg args[MOST_ARGS] = {
        ARG_COUNT_OF("ops", &command->ops, 1, 1e9, "updates of all threads"),
        ARG_COUNT_OF("seed", &command->seed, 0, 1e15, "which updates they are"),
        ARG_COUNT_OF("threads", &command->threads, 1, MOST_THREADS, "threads, each with keys of its own"),
        ARG_COUNT_OF("more", &command->more, 0, 1000, "of a check: updates it makes after recovery, to look again"),
        ARG_CHOICE_OF("form", &command->pool.form, FORM_WORDS, "how stores become persistent; of a run"),
    };
    size_t shared = 5;
    char *rest[argc + 1];
    int words = argc > 2 && (strcmp(argv[1], "run") == 0 || strcmp(argv[1], "check") == 0) && argv[2][0] != '-';

    memcpy(args + shared, own, count * sizeof *own);
    /* The program's name, and what stands behind its two words. */
    rest[0] = argv[0];
    memcpy(rest + 1, argv + (words ? 3 : 1), (size_t)(argc - (words ? 3 : 1) + 1) * sizeof *rest);
    args_follow("run|check POOL");
    args_parse(argc - (words ? 2 : 0), rest, summary, args, shared + count);
    if (!words)
        args_fail("say `run POOL` or `check POOL`, with the file that holds the persistent memory");
    command->pool.check = strcmp(argv[1], "check") == 0;
    command->pool.file = argv[2];
    if (!form_is_by_line((enum form)command->pool.form) && command->pool.form != FORM_ORDER)
        args_fail("--form: these programs flush line by line (clflush, clflushopt, clwb, demote), or rely on order alone");
}
