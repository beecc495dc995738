/* A process waits in system calls of several kinds while another sends it signals, each a moment after the last was handled: many
 * come just before a call begins. All are handled, and at once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIGNALS = 3000, TOO_LATE_MS = 10000, MOST_LATE = 0 };

static const char *const ways[] = { "pause", "read", "nanosleep", "poll", "ppoll", "sigsuspend" };
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static int answers[2], silence[2];

static void on_signal(int number)
{
    int before = errno;
    (void)number;
    if (write(answers[1], "!", 1) != 1)
        _exit(1);
    errno = before;
}

static void wait_for_ever(int way)
{
    struct timespec long_time = { 1000, 0 };
    struct pollfd silent = { silence[0], POLLIN, 0 };
    sigset_t none;
    char byte;
    sigemptyset(&none);
    for (;;) {
        switch (way) {
        case 0: pause(); break;
        case 1:
            if (read(silence[0], &byte, 1) >= 0)
                _exit(1);
            break;
        case 2: nanosleep(&long_time, NULL); break;
        case 3: poll(&silent, 1, -1); break;
        case 4: ppoll(&silent, 1, NULL, NULL); break;
        default: sigsuspend(&none); break;
        }
    }
}

static void send_all(int way, int number, int flags)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };
    unsigned random = 1;
    int late = 0;
    sigaction(number, &action, NULL);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        wait_for_ever(way);
    }
    for (int i = 0; i < SIGNALS && late <= MOST_LATE; i++) {
        struct pollfd answer = { answers[0], POLLIN, 0 };
        char byte;
        kill(child, number);
        if (poll(&answer, 1, TOO_LATE_MS) != 1)
            late++;
        else if (read(answers[0], &byte, 1) != 1)
            exit(1);
        random = random * 1103515245 + 12345;
        for (volatile unsigned wait = 0; wait < (random >> 16) % 2000; wait++)
            ;
    }
    kill(child, late <= MOST_LATE ? SIGTERM : SIGKILL);
    waitpid(child, NULL, 0);
    printf("%s, signal %d, flags %x: %s\n", ways[way], number, (unsigned)flags,
           late <= MOST_LATE ? "handled" : "lost");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (pipe(answers) != 0 || pipe(silence) != 0)
        return 1;
    for (int way = 0; way < WAYS; way++) {
        send_all(way, SIGUSR1, 0);
        send_all(way, SIGUSR1, SA_RESTART);
        if (argc > 1) /* faults, too */
            send_all(way, SIGSEGV, 0);
    }
    return 0;
}
