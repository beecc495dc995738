/* SIGXCPU, a second into a loop that does nothing but compute and store, and again in the next one. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile sig_atomic_t times;
static volatile uint64_t words[64];

static void on_limit(int signal)
{
    times++;
}

static uint64_t until(int number)
{
    uint64_t x = 1;
    while (times < number) {
        x = x * 6364136223846793005u + 1;
        words[x >> 58] += x;
        if (x >> 61 == 0)
            getppid();
    }
    return x;
}

int main(void)
{
    struct sigaction action = { .sa_handler = on_limit };
    struct rlimit limit = { 1, 30 };
    sigaction(SIGXCPU, &action, NULL);
    setrlimit(RLIMIT_CPU, &limit);
    until(1);
    puts("once");
    until(2);
    puts("twice");
    return 0;
}
