/* The first process of a guest that runs the command `prestore`: without the module, then with it. */
#include "../common/guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void command(const char *title, const char *const *arguments)
{
    int status;

    printf("BEGIN %s\n", title);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execv("/prestore", (char *const *)arguments);
        _exit(127);
    }
    need(waitpid(child, &status, 0) == child, "waitpid");
    printf("\nEND %s\n", title);
    say("%s: exit code %d", title, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int main(void)
{
    static const char *const text[] = {"prestore", "bench", "--types", "--runs", "1", NULL};
    static const char *const json[] = {"prestore", "bench", "--types", "--runs", "2", "--format", "json", NULL};
    static const char *const doctor[] = {"prestore", "doctor", "--format", "json", NULL};

    begin();
    setenv("HOME", "/", 1);
    command("types without module", text);
    need(load("/prestore.ko", "") == 0, "prestore.ko");
    command("types", text);
    command("types as json", json);
    command("doctor", doctor);
    say("%lu used at last", (unsigned long)used_at_last(0));
    end();
    return 0;
}
