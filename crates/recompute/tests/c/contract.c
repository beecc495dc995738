/* The library's contract as C and C++ see it. Prints nothing and ends with 0 where it is kept. */
#include "prestore_recompute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 12
#define COLUMNS 16
#define BLOCK 3
#define ROUNDS 5

#define EXPECT(condition)                                                                  \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            printf("line %d: %s (%s)\n", __LINE__, #condition, prestore_loop_error());     \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

static int context = 42;

static void init(void *given, void *const *arrays)
{
    double *input = (double *)arrays[0];
    int i;

    EXPECT(given == &context);
    for (i = 0; i < ROWS * COLUMNS; i++) {
        EXPECT(input[i] == 0);
        input[i] = i;
    }
}

static void reset(void *given, void *const *arrays, size_t region)
{
    double *sums = (double *)arrays[1] + region * BLOCK * COLUMNS;

    (void)given;
    memset(sums, 0, BLOCK * COLUMNS * sizeof *sums);
}

static void step(void *given, void *const *arrays, size_t outer, size_t region)
{
    const double *input = (const double *)arrays[0];
    double *sums = (double *)arrays[1];
    size_t i;

    (void)given;
    for (i = region * BLOCK * COLUMNS; i < (region + 1) * BLOCK * COLUMNS; i++)
        sums[i] += input[i] * (double)(outer + 1);
}

static int writes(void *given, size_t outer, size_t region)
{
    (void)given;
    return !(outer == 0 && region == 1);
}

static void refuses(const prestore_loop_nest *nest, const char *path, const char *scheme, unsigned workers,
                    const char *why)
{
    EXPECT(prestore_loop_open(nest, path, scheme, workers, PRESTORE_LOOP_FLUSH) == NULL);
    if (strstr(prestore_loop_error(), why) == NULL) {
        printf("%s: %s\n", why, prestore_loop_error());
        exit(1);
    }
}

static void check(prestore_loop *loop)
{
    const double *sums = (const double *)prestore_loop_array_at(loop, 1);
    int i;

    for (i = 0; i < ROWS * COLUMNS; i++)
        EXPECT(sums[i] == i * (i / (BLOCK * COLUMNS) == 1 ? 14.0 : 15.0));
}

int main(int argc, char **argv)
{
    static const char *const schemes[] = { "none", "CP2", "CPall1", "L", "R", "HRx2" };
    prestore_loop_array arrays[2] = {
        { ROWS, COLUMNS * sizeof(double), 0, 0, 0, 0, 0 },
        { ROWS, COLUMNS * sizeof(double), BLOCK, COLUMNS * sizeof(double), 0, 0, 0 },
    };
    prestore_loop_nest nest = { "sums",   ROUNDS, arrays, 2,    PRESTORE_LOOP_CARRIED, PRESTORE_LOOP_APART,
                                &context, init,   reset,  step, writes };
    prestore_loop_level level = { "rows", 0.01, 0.0005 };
    prestore_loop_measured measured = { 64, 1.0, 2.0, 1, 0, 1000.0, &level, 1 };
    prestore_loop_advice advice;
    prestore_loop_report report;
    prestore_loop *loop;
    size_t i;

    EXPECT(argc == 2);
    for (i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        loop = prestore_loop_open(&nest, NULL, schemes[i], 1 + (unsigned)i % 3, PRESTORE_LOOP_AUTO);
        EXPECT(loop != NULL && prestore_loop_state(loop) == 0);
        EXPECT(prestore_loop_run(loop, NULL) == 0);
        check(loop);
        prestore_loop_close(loop);
    }
    loop = prestore_loop_open(&nest, argv[1], "R", 2, PRESTORE_LOOP_AUTO);
    EXPECT(loop != NULL && prestore_loop_state(loop) == 0);
    EXPECT(strlen(prestore_loop_durability(loop)) > 0);
    EXPECT(prestore_loop_array_at(loop, 2) == NULL);
    refuses(&nest, argv[1], "R", 2, "in use by another process");
    prestore_loop_close(loop);
    loop = prestore_loop_open(&nest, argv[1], "R", 2, PRESTORE_LOOP_AUTO);
    EXPECT(loop != NULL && prestore_loop_state(loop) == 1);
    EXPECT(prestore_loop_run(loop, &report) == 0);
    EXPECT(!report.was_finished && report.steps == 19 && report.resumed_at == 0);
    check(loop);
    EXPECT(prestore_loop_state(loop) == 2);
    EXPECT(prestore_loop_run(loop, &report) == 0 && report.was_finished);
    prestore_loop_close(loop);
    prestore_loop_close(NULL);

    refuses(&nest, argv[1], "R", 3, "it was begun by sums (5 iterations of 4 regions, scheme R, workers: 2)");
    refuses(&nest, NULL, "S", 1, "\"S\" is no scheme");
    refuses(&nest, NULL, NULL, 1, "the scheme is NULL");
    refuses(&nest, NULL, "R", 0, "1 to 4096 workers");
    refuses(NULL, NULL, "R", 1, "the description of the loop is NULL");
    arrays[0].rows = (size_t)1 << 30; /* a petabyte */
    arrays[0].row_bytes = (size_t)1 << 20;
    refuses(&nest, NULL, "R", 1, "no room for");
    arrays[0].rows = ROWS;
    arrays[0].row_bytes = COLUMNS * sizeof(double);
    nest.array_count = (size_t)-1;
    refuses(&nest, NULL, "R", 1, "more arrays than there can be");
    nest.array_count = 2;
    nest.reset = NULL;
    refuses(&nest, NULL, "R", 1, "write a reset");
    refuses(&nest, NULL, "HRx2", 1, "write a reset");
    for (i = 0; i < 4; i++) { /* none, CP2, CPall1, L */
        loop = prestore_loop_open(&nest, NULL, schemes[i], 2, PRESTORE_LOOP_AUTO);
        EXPECT(loop != NULL && prestore_loop_run(loop, NULL) == 0);
        check(loop);
        EXPECT(prestore_loop_state(loop) == (i == 0 ? 1 : 2));
        EXPECT(prestore_loop_run(loop, NULL) == 0);
        check(loop);
        prestore_loop_close(loop);
    }
    nest.dependence = 2;
    refuses(&nest, NULL, "R", 1, "dependence 2");
    nest.dependence = PRESTORE_LOOP_FRESH;
    refuses(&nest, NULL, "R", 1, "workers have to meet");
    nest.step = NULL;
    refuses(&nest, NULL, "R", 1, "no step");

    EXPECT(prestore_loop_advise(&measured, &advice) == 0);
    EXPECT(strcmp(advice.scheme, "R") == 0 && advice.level == 0 && advice.overhead == 0.05);
    EXPECT(advice.crossing == prestore_loop_crossing(2.0, 1.0, 0.05));
    measured.mttf_seconds = 0.001;
    EXPECT(prestore_loop_advise(&measured, &advice) == -1);
    EXPECT(strstr(prestore_loop_error(), "no scheme gets ahead of the failures") != NULL);
    return 0;
}
