#include "environment.h"

#include <stdlib.h>
#include <string.h>

#include "dr_api.h"

#define PREFIX "DYNAMORIO_"
/* What the engine leaves of a variable that it had passed on through an execve. */
#define USED "__disabled__"
/* In /proc/self/stat, counted from the name: the stack pointer at the start. */
#define FIELD_START_STACK 26

/* Of the engine: where it finds its own variables, followed by the auxiliary vector. */
extern void dynamorio_set_envp(char **envp);

/* The stack as the kernel made it: argc, argv, NULL, envp, NULL, auxiliary vector, text. */
static uint64 *
initial_stack(void)
{
    char text[1024];
    file_t file = dr_open_file("/proc/self/stat", DR_FILE_READ);
    if (file < 0)
        return NULL;
    ssize_t length = dr_read_file(file, text, sizeof(text) - 1);
    dr_close_file(file);
    if (length <= 0)
        return NULL;
    text[length] = '\0';
    /* A name may hold anything, but the last parenthesis is its end. */
    const char *at = strrchr(text, ')');
    for (int field = 0; at != NULL && field < FIELD_START_STACK; field++)
        at = strchr(at + 1, ' ');
    return at == NULL ? NULL : (uint64 *)strtoull(at + 1, NULL, 10);
}

static char **argv;
/* The auxiliary vector, and what is behind it. */
static const uint64 *auxv, *auxv_end;

bool
environment_is_engines(const char *variable)
{
    return strncmp(variable, PREFIX, strlen(PREFIX)) == 0 || strcmp(variable, USED) == 0;
}

static bool
readable(const void *at, size_t bytes)
{
    byte buffer[64];
    size_t n;
    return bytes <= sizeof(buffer) && dr_safe_read(at, bytes, buffer, &n) && n == bytes;
}

void
environment_clean(void)
{
    uint64 *stack = initial_stack();
    if (stack == NULL || !readable(stack, 16) || stack[0] > 1u << 24)
        return;
    uint64 *envp = stack + 1 + stack[0] + 1, *end = envp;
    if (!readable(envp - 1, 16) || envp[-1] != 0)
        return;
    while (*end != 0)
        end++;
    for (end++; *end != 0; end += 2) /* the auxiliary vector, up to AT_NULL */
        ;
    end += 2;
    /* The engine goes on reading its variables to its end: it gets all as they were, in pages that are never given back. */
    size_t bytes = (size_t)((byte *)end - (byte *)envp);
    uint64 *copy = dr_raw_mem_alloc(bytes, DR_MEMPROT_READ | DR_MEMPROT_WRITE, NULL);
    if (copy == NULL)
        return;
    memcpy(copy, envp, bytes);
    dynamorio_set_envp((char **)copy);
    /* What follows moves up: the auxiliary vector is found behind the last variable. */
    uint64 *to = envp;
    bool in_environment = true;
    for (uint64 *from = envp; from < end; from++) {
        in_environment = in_environment && *from != 0;
        if (!in_environment || !environment_is_engines((const char *)*from))
            *to++ = *from;
        if (!in_environment && auxv == NULL)
            auxv = to; /* behind the NULL */
    }
    auxv_end = to;
    argv = (char **)(stack + 1);
    memset(to, 0, (size_t)((byte *)end - (byte *)to));
}

const void *
environment_auxv(size_t *bytes)
{
    *bytes = (size_t)((const byte *)auxv_end - (const byte *)auxv);
    return auxv;
}

char **
environment_argv(void)
{
    return argv;
}
