/* The command line of the programs of this folder: `PROGRAM run POOL [--key=value ...]` or `PROGRAM check POOL`. */
#ifndef WORKLOADS_COMMAND_H
#define WORKLOADS_COMMAND_H

#include "../common/args.h"
#include "../modes/pool.h"

/* Compiled with -DDEFECT=1, each program leaves out one thing that it needs to survive a power cut: so it can be shown
 * that its check sees that. */
#ifndef DEFECT
#define DEFECT 0
#endif

#define MOST_THREADS 8

struct command {
    struct pool_options pool;
    uint64_t ops, seed, threads; /* of a run; a check finds them in the pool */
    uint64_t more;               /* updates that a check makes after recovery, before it looks again */
};

#define COMMAND_USUAL { .ops = 10000, .seed = 1, .threads = 1, .pool.form = FORM_CLWB }

/* Fills `command`, which holds the defaults, and the targets of `own`. Ends the program on what is wrong, as args_parse. */
void command_parse(int argc, char **argv, const char *summary, struct command *command, const struct arg *own,
                   size_t count);

#endif
