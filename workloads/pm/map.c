#include "map.h"

#include "../../include/prestore_region.h"
#include "../common/result.h"
#include "../common/team.h"

#include <stdlib.h>

#define MEASURED_REGION 1
/* No run makes as many. */
#define MOST_UPDATES (UINT64_C(1) << 40)

struct run {
    const struct map_program *program;
    void *map;
    struct map_shape shape;
    uint64_t ops, reads;
    uint64_t sums[MOST_THREADS];
};

static void work(void *context, uint64_t thread)
{
    struct run *run = context;
    struct updates updates = updates_of(&run->shape, thread);
    struct prng looks = prng_new(run->shape.seed, MOST_THREADS + thread);
    uint64_t mine = team_share(run->ops, run->shape.threads, thread), sum = 0;

    PRESTORE_REGION_BEGIN(MEASURED_REGION);
    for (uint64_t done = 1; done <= mine; done++) {
        struct update update = updates_next(&updates);
        run->program->update(run->map, thread, &update, done);
        for (uint64_t r = 0; r < run->reads; r++)
            sum += run->program->get(run->map, updates_key(&updates, &looks));
    }
    PRESTORE_REGION_END(MEASURED_REGION);
    run->sums[thread] = sum;
}

static const char *compare(const struct map_program *program, void *map, const struct map_shape *shape, int exact)
{
    struct content *content = content_new(shape->keys);
    const char *wrong = program->walk(map, content);

    for (uint64_t t = 0; t < shape->threads && !wrong; t++) {
        uint64_t done = program->done(map, t);
        wrong = done > MOST_UPDATES ? "more updates were counted than any run makes"
                                    : content_compare(content, shape, t, done, exact);
    }
    for (uint64_t key = 0; key < shape->keys && !wrong; key++)
        if (program->get(map, key) != content->values[key])
            wrong = "a key is not found where it is";
    free(content);
    return wrong;
}

/* Goes on where a power cut ended the run: what recovery left must be of use. */
static void go_on(const struct map_program *program, void *map, const struct map_shape *shape, uint64_t more)
{
    for (uint64_t t = 0; t < shape->threads; t++) {
        struct updates updates = updates_of(shape, t);
        uint64_t before = program->done(map, t);
        for (uint64_t done = 1; done <= before + more; done++) {
            struct update update = updates_next(&updates);
            if (done > before)
                program->update(map, t, &update, done);
        }
    }
}

static const char *check(const struct map_program *program, const struct command *command)
{
    struct map_shape shape;
    const char *wrong = NULL;
    void *map = program->left(command, &shape, &wrong);

    if (!wrong)
        wrong = compare(program, map, &shape, program->exact);
    if (wrong || command->more == 0)
        return wrong;
    go_on(program, map, &shape, command->more);
    return compare(program, map, &shape, 1);
}

int map_main(int argc, char **argv, const struct map_program *program)
{
    struct command command = COMMAND_USUAL;
    struct run run = { .program = program, .shape.keys = 1000, .reads = 1 };
    const struct arg own[] = {
        ARG_COUNT_OF("keys", &run.shape.keys, MOST_THREADS, 1e8, "keys that may be in the map"),
        ARG_COUNT_OF("reads", &run.reads, 0, 1e6, "look-ups behind each update"),
    };

    command_parse(argc, argv, program->summary, &command, own, sizeof own / sizeof *own);
    if (command.pool.check)
        pool_verdict(program->name, check(program, &command));
    run.ops = command.ops;
    run.shape.seed = command.seed;
    run.shape.threads = command.threads;
    run.map = program->make(&command, &run.shape);

    double start = result_now();
    team_run(run.shape.threads, work, &run);
    uint64_t sum = 0;
    for (uint64_t t = 0; t < run.shape.threads; t++)
        sum += run.sums[t];
    result_print(program->name, run.ops, result_now() - start, sum);
    return 0;
}
