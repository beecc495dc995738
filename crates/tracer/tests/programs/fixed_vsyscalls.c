/* Calls the kernel's three entries at fixed addresses, as old static programs do. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static void *
entry(unsigned long number)
{
    return (void *)(0xffffffffff600000UL + number * 0x400);
}

int
main(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[400];
    int there = 0;
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
        there |= strstr(line, "[vsyscall]") != NULL;
    if (!there) {
        puts("the kernel has none");
        return 0;
    }
    long (*of_day)(struct timeval *, void *), (*of_second)(time_t *),
        (*cpu)(unsigned *, unsigned *, void *);
    void *at = entry(0);
    memcpy(&of_day, &at, sizeof(at));
    at = entry(1);
    memcpy(&of_second, &at, sizeof(at));
    at = entry(2);
    memcpy(&cpu, &at, sizeof(at));
    struct timeval day;
    time_t second = 0, sum = 0;
    unsigned number = ~0u;
    for (int i = 0; i < 1000; i++)
        sum += of_second(NULL) > 1000000;
    printf("%ld %ld\n", of_day(&day, NULL), (long)sum);
    printf("%d", of_second(&second) == second);
    printf("%d", second - day.tv_sec < 5);
    printf("%ld%d\n", cpu(&number, NULL, NULL), number != ~0u);
    return 0;
}
