/* Threads that do what a random number says: fork, execute, are cancelled, and what is in the header. Each knows what must come of it, and
 * tells what does not. Arguments: seed, threads, steps of each. */
#include "random_lives.h"

static void a_step(life_t *life);

/* Ends where there can be no child: its number is what signals are sent to. */
static pid_t
child(void)
{
    pid_t pid = fork();
    if (pid < 0) {
        perror("fork");
        _exit(114);
    }
    return pid;
}

static int
status_of(pid_t pid)
{
    int status = -1;
    pid_t got;
    do
        got = waitpid(pid, &status, 0);
    while (got < 0 && errno == EINTR);
    return got == pid ? status : -1;
}

static void
forks(life_t *life)
{
    int code = (int)below(life, 100), more = (int)below(life, 3);
    pid_t pid = child();
    if (pid == 0) {
        wrong = 0;
        life->depth++;
        for (int i = 0; i < more; i++)
            a_step(life);
        _exit(wrong ? 111 : code);
    }
    int status = status_of(pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == code, status, more);
}

static void
children_that_are_killed(life_t *life)
{
    static const int signals[] = { SIGKILL, SIGTERM, SIGABRT, SIGSEGV, SIGILL };
    int sig = signals[below(life, 5)];
    unsigned how = below(life, 3);
    pid_t pid = child();
    if (pid == 0) {
        alarm(100);
        signal(sig, SIG_DFL);
        if (how == 0)
            raise(sig);
        for (;;)
            how == 1 ? (void)pause() : (void)0;
    }
    if (how != 0) {
        usleep(below(life, 2000));
        kill(pid, sig);
    }
    int status = status_of(pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == sig, status, sig);
}

static void
executes_nothing(life_t *life)
{
    char *words[] = { "true", NULL };
    pid_t pid;
    int error = posix_spawn(&pid, below(life, 2) ? "/nonexistent" : "/dev/null", NULL, NULL, words, environ);
    CHECK(error == ENOENT || error == EACCES, error, 0);
}

static void
executes(life_t *life)
{
    char *words[] = { "sh", "-c", "exit 7", NULL };
    pid_t pid;
    if (below(life, 4) != 0)
        return;
    int error = posix_spawnp(&pid, "sh", NULL, NULL, words, environ);
    CHECK(error == 0, error, 0);
    if (error == 0) {
        int status = status_of(pid);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, status, 0);
    }
}

static void
vforks(life_t *life)
{
    volatile int seen = 0;
    char *words[] = { "x", NULL };
    unsigned how = below(life, 2);
    pid_t pid = vfork();
    if (pid == 0) {
        seen = 42;
        if (how == 0)
            execve("/nonexistent", words, environ);
        _exit(9);
    }
    int status = status_of(pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9 && seen == 42, status, seen);
}

static void *
another(void *of)
{
    life_t own = *(life_t *)of; /* what it forks has only this stack */
    a_step(&own);
    return of;
}

static void
creates(life_t *life)
{
    life_t its = { life->random ^ 0x5555, life->depth + 1 };
    pthread_t thread;
    void *result = NULL;
    int error = pthread_create(&thread, NULL, another, &its);
    CHECK(error == 0, error, 0);
    if (error == 0) {
        pthread_join(thread, &result);
        CHECK(result == &its, result, &its);
    }
}

static void *
waits(void *of)
{
    struct timespec long_time = { 1000, 0 };
    sem_post(of);
    for (;;)
        nanosleep(&long_time, NULL);
    return NULL;
}

static void
cancels(life_t *life)
{
    pthread_t thread;
    void *result = NULL;
    sem_t begun;
    sem_init(&begun, 0, 0);
    if (pthread_create(&thread, NULL, waits, &begun) != 0)
        return;
    if (below(life, 2))
        while (sem_wait(&begun) != 0)
            ;
    pthread_cancel(thread);
    pthread_join(thread, &result);
    CHECK(result == PTHREAD_CANCELED, result, 0);
    sem_destroy(&begun);
}

static void
pipes(life_t *life)
{
    enum { BYTES = 150000 };
    int ends[2];
    unsigned kind = below(life, 2);
    if ((kind ? pipe2(ends, O_CLOEXEC) : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) != 0)
        return;
    pid_t pid = child();
    if (pid == 0) {
        unsigned char block[1000];
        close(ends[0]);
        for (size_t at = 0; at < BYTES; at += sizeof(block)) {
            for (size_t i = 0; i < sizeof(block); i++)
                block[i] = (unsigned char)((at + i) * 7);
            for (size_t done = 0; done < sizeof(block);) {
                ssize_t n = write(ends[1], block + done, sizeof(block) - done);
                done += n > 0 ? (size_t)n : 0;
            }
        }
        _exit(3);
    }
    close(ends[1]);
    unsigned char block[3333];
    size_t at = 0, bad = 0;
    for (ssize_t n; (n = read(ends[0], block, sizeof(block))) != 0;) {
        if (n < 0 && errno != EINTR)
            break;
        for (ssize_t i = 0; i < n; i++)
            bad += block[i] != (unsigned char)((at + (size_t)i) * 7);
        at += n > 0 ? (size_t)n : 0;
    }
    close(ends[0]);
    int status = status_of(pid);
    CHECK(at == BYTES && bad == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 3, status, at);
}

static void
exits_in_the_middle(life_t *life)
{
    pid_t pid = child();
    if (pid == 0) {
        pthread_t thread;
        sem_t begun;
        sem_init(&begun, 0, 0);
        for (unsigned i = 1 + below(life, 3); i > 0; i--)
            pthread_create(&thread, NULL, waits, &begun);
        usleep(below(life, 500));
        _exit(5);
    }
    int status = status_of(pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5, status, 0);
}

static void *
executes_from_here(void *of)
{
    char *words[] = { program, "7", "1", "2", NULL };
    (void)of;
    execve(program, words, environ);
    _exit(112);
}

static void
executes_from_a_thread(life_t *life)
{
    if (life->depth > 0 || below(life, 3) != 0)
        return;
    pid_t pid = child();
    if (pid == 0) {
        pthread_t thread;
        sem_t begun;
        sem_init(&begun, 0, 0);
        if (dup2(open("/dev/null", O_WRONLY), 1) < 0)
            _exit(113);
        pthread_create(&thread, NULL, waits, &begun);
        pthread_create(&thread, NULL, executes_from_here, NULL);
        for (;;)
            pause();
    }
    int status = status_of(pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, status, 0);
}

static step_fn *const steps[] = { forks, children_that_are_killed, executes_nothing, executes, vforks, creates, cancels, code,
                                  faults, own_signals, others_signals, pipes, grows, opens_libraries, timers, exits_in_the_middle,
                                  executes_from_a_thread, allocates, yields };

static void
a_step(life_t *life)
{
    if (life->depth > 3)
        return;
    steps[below(life, sizeof(steps) / sizeof(steps[0]))](life);
}

static pthread_barrier_t begin, end;
static int steps_each;

static void *
lives(void *of)
{
    life_t own = *(life_t *)of;
    pthread_barrier_wait(&begin);
    for (int i = 0; i < steps_each; i++)
        a_step(&own);
    pthread_barrier_wait(&end);
    return NULL;
}

int
main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    life_t its[MOST_THREADS];
    program = argv[0];
    threads = argc > 2 ? atoi(argv[2]) : 4;
    steps_each = argc > 3 ? atoi(argv[3]) : 20;
    struct sigaction count = { .sa_sigaction = on_count, .sa_flags = SA_SIGINFO | SA_RESTART }, own = { .sa_handler = on_own };
    struct sigaction timer = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
    struct sigaction fault = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
    own.sa_flags = SA_RESTART;
    sigaction(SIGRTMIN + 3, &count, NULL);
    sigaction(SIGUSR1, &own, NULL);
    sigaction(SIGUSR2, &timer, NULL);
    sigaction(SIGSEGV, &fault, NULL);
    cancels(&(life_t){ seed, 0 }); /* loads a library, which no child may have to do */
    pthread_barrier_init(&begin, NULL, (unsigned)threads);
    pthread_barrier_init(&end, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) {
        its[i] = (life_t){ seed * 1000003 + (uint64_t)i * 7919, 0 };
        for (int k = 0; k < 4; k++)
            below(&its[i], 2);
        if (pthread_create(&all[i], NULL, lives, &its[i]) != 0)
            return 1;
    }
    pthread_barrier_wait(&end);
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    CHECK(sent == received, sent, received);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
