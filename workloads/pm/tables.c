#include "tables.h"

#include "../../include/prestore_region.h"
#include "../common/result.h"
#include "../common/team.h"

#define MEASURED_REGION 1
#define MOST (UINT64_C(1) << 32)
/* Beyond what a run makes, for checks that go on. */
#define ROOM_FOR_MORE 1000

struct run {
    const struct tables_program *program;
    struct tables tables;
    uint64_t ops;
};

static const struct tables_program *of_size;

static size_t bytes_of(const uint64_t *shape)
{
    if (shape[1] < 1 || shape[1] > MOST_THREADS || shape[2] < of_size->least || shape[2] > MOST || shape[3] > MOST)
        return SIZE_MAX / 2;
    return sizeof(struct sections) + of_size->bytes_of(shape[2], shape[1], shape[3]);
}

static struct tables tables_of(struct pool pool, const uint64_t *shape)
{
    return (struct tables){ pool,     (struct sections *)pool.data, pool.data + sizeof(struct sections),
                            shape[0], shape[1],                     shape[2],
                            shape[3] };
}

/* The thread's updates after those that are counted, so that `until` are. */
static void updates(const struct tables_program *program, struct tables *tables, uint64_t thread, uint64_t until)
{
    struct log log = log_open(&tables->pool, &tables->sections->logs[thread]);
    struct prng prng = prng_new(tables->seed, thread);
    uint64_t before = tables_done(tables, thread);

    for (uint64_t done = 1; done <= until && done <= tables->room; done++)
        program->update(tables, thread, &prng, done > before ? &log : NULL, done);
}

static void work(void *context, uint64_t thread)
{
    struct run *run = context;

    PRESTORE_REGION_BEGIN(MEASURED_REGION);
    updates(run->program, &run->tables, thread, team_share(run->ops, run->tables.threads, thread));
    PRESTORE_REGION_END(MEASURED_REGION);
}

static const char *check(const struct tables_program *program, const struct command *command)
{
    struct pool pool = pool_left(&command->pool, program->kind, bytes_of);
    struct tables tables = tables_of(pool, pool.root->shape);
    const char *wrong = sections_recover(&tables.pool, tables.sections, tables.threads);

    for (uint64_t t = 0; t < tables.threads && !wrong; t++)
        if (tables_done(&tables, t) > tables.room)
            wrong = "more updates were counted than there is room for";
    if (!wrong)
        wrong = program->compare(&tables);
    if (wrong || command->more == 0)
        return wrong;
    for (uint64_t t = 0; t < tables.threads; t++)
        updates(program, &tables, t, tables_done(&tables, t) + command->more);
    return program->compare(&tables);
}

int tables_main(int argc, char **argv, const struct tables_program *program)
{
    struct command command = COMMAND_USUAL;
    struct run run = { .program = program };
    uint64_t size = program->usual;
    const struct arg own[] = {
        ARG_COUNT_OF(program->size, &size, program->least, MOST, program->says),
    };

    of_size = program;
    command_parse(argc, argv, program->summary, &command, own, 1);
    if (command.pool.check)
        pool_verdict(program->name, check(program, &command));
    const uint64_t shape[] = { command.seed, command.threads, size, command.ops / command.threads + ROOM_FOR_MORE };
    run.ops = command.ops;
    run.tables = tables_of(pool_make(&command.pool, bytes_of(shape)), shape);
    program->fill(&run.tables);
    pool_publish(&run.tables.pool, program->kind, shape, 4);

    double start = result_now();
    team_run(command.threads, work, &run);
    double seconds = result_now() - start;
    uint64_t done = 0;
    for (uint64_t t = 0; t < command.threads; t++)
        done += tables_done(&run.tables, t);
    result_print(program->name, command.ops, seconds, done);
    return 0;
}
