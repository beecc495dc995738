/* Threads that run at once, in a program that leaves each of them so many of the mappings that a process may have: what records
 * them takes some of its own. Without a limit that can be reached soon it says so. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { THREADS = 300, LEFT_FOR_ALL = 400, MOST = 200000, PAGE = 4096 };

static pthread_barrier_t all_run;
static long sum;

static void *
wait_for_all(void *number)
{
    __atomic_fetch_add(&sum, (long)number, __ATOMIC_SEQ_CST);
    pthread_barrier_wait(&all_run);
    return NULL;
}

static long
most_mappings(void)
{
    long most = 0;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    if (file == NULL || fscanf(file, "%ld", &most) != 1)
        return 0;
    fclose(file);
    return most;
}

/* Each second page gets another protection, and so a mapping of its own. */
static void
fill(long mappings)
{
    char *area = mmap(NULL, (size_t)mappings * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED)
        exit(2);
    for (long i = 0; i < mappings; i += 2) {
        if (mprotect(area + i * PAGE, PAGE, PROT_NONE) != 0)
            exit(2);
    }
}

int
main(int argc, char **argv)
{
    static pthread_t threads[THREADS];
    long most = most_mappings();
    if (argc < 2 || most == 0 || most > MOST) {
        puts("no limit");
        return 0;
    }
    fill(most - THREADS * atol(argv[1]) - LEFT_FOR_ALL);
    pthread_barrier_init(&all_run, NULL, THREADS);
    for (long i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, wait_for_all, (void *)i) != 0)
            return 3;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", sum);
    return 0;
}
